import Foundation

/// The format `FileFormat.binary`.
struct BinaryFormat: FileFormatCoder {
    let name = "binary"
    let copiesObjects = true

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
        if let former, let written, let bytes = try? checked(value, replacing: (former, written)) { return bytes }
        do {
            return try checked(value)
        } catch {
            if let key = value.dictionary?.filter(\.value.holdsForeign).keys.min() {
                let reason = "holds an object that no property list can hold"
                throw EncodingFailure(path: key, topLevelKey: key, reason: reason)
            }
            throw EncodingFailure(path: "", reason: "could not be read again: \(error.reason)")
        }
    }

    /// Returns the bytes of a binary list after a check.
    private func checked(
        _ value: StoredValue, replacing former: (value: StoredValue, bytes: Data)? = nil
    ) throws(DecodingFailure) -> Data {
        let bytes = try BinaryPropertyListWriter.data(from: value, replacing: former)
        try bytes.withBytes { buffer throws(DecodingFailure) in try BinaryPropertyListCheck.check(buffer) }
        return bytes
    }
}
