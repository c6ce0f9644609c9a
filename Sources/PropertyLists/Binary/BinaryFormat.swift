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
            // A fault of the writer would replace a good file. The tests are debug builds, and write all kinds of values.
            assert(Self.reads(bytes, as: value), "PersistentPreferences: a written list is read as another value")
            return bytes
        } catch {
            guard let key = value.dictionary?.filter(\.value.holdsForeign).keys.min() else { throw error }
            throw EncodingFailure(path: key, topLevelKey: key, reason: error.reason)
        }
    }

    private static func reads(_ bytes: Data, as value: StoredValue) -> Bool {
        (try? bytes.withBytes(BinaryPropertyListReader.value))?.value.plain == value.plain
    }
}
