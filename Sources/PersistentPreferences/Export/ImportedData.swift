import Foundation

/// Bytes from anywhere, and the values in them.
enum ImportedData {
    /// The dictionary on top, of whatever format. Its values are those of a property list, but not vetted.
    ///
    /// - Throws: `PrefsError.invalidImport`.
    static func values(of data: Data) throws(PrefsError) -> [String: Any] {
        let limit = PropertyListFile.sizeLimit
        guard data.count <= limit else { throw .invalidImport(reason: "larger than \(limit >> 20) MiB") }
        if data.isEmpty { throw .invalidImport(reason: "it is empty") }
        let top = isPropertyList(data) ? try propertyList(data) : try JSONReader.value(of: data)
        guard let values = top as? [String: Any] else {
            throw .invalidImport(reason: "its top level is no dictionary")
        }
        return values
    }

    /// By the first bytes. UTF-16 is nothing that either of the readers takes; the one for XML says so.
    private static func isPropertyList(_ data: Data) -> Bool {
        if data.starts(with: "bplist".utf8) || data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) {
            return true
        }
        let text = data.starts(with: JSONReader.byteOrderMark) ? data.dropFirst(3) : data
        return text.first { $0 != UInt8(ascii: " ") && !(9...13).contains($0) } == UInt8(ascii: "<")
    }

    private static func propertyList(_ data: Data) throws(PrefsError) -> Any {
        do {
            return try PropertyListCoder.decode(data).value
        } catch {
            switch error {
            case .damage(let reason), .excess(let reason): throw .invalidImport(reason: reason)
            }
        }
    }
}
