import Foundation

/// The format `FileFormat.binary`.
struct BinaryFormat: FileFormatCoder {
    let name = "binary"

    static let magic = "bplist".utf8

    func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: Self.magic) }

    func value(in bytes: UnsafeRawBufferPointer) throws(DecodingFailure) -> (value: StoredValue, loss: String?) {
        do {
            return try BinaryPropertyListReader.value(in: bytes)
        } catch .malformed(var fault) {
            // An error at the end of the bytes may come from a file that is cut off.
            fault.isIncomplete = true
            throw .malformed(fault)
        } catch {
            throw error
        }
    }

    func data(from value: StoredValue, replacing former: StoredValue?, written: Data?) throws(EncodingFailure) -> Data {
        do throws(EncodingFailure) {
            let bytes = try BinaryPropertyListWriter.data(from: value)
            #if DEBUG
                PropertyListCoder.check.withLock { $0 }?.run(bytes, value)
            #endif
            return bytes
        } catch {
            guard let key = value.dictionary?.filter(\.value.holdsForeign).keys.min() else { throw error }
            throw EncodingFailure(path: key, topLevelKey: key, reason: error.reason)
        }
    }
}
