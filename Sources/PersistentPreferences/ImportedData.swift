import Foundation
import PrefsPropertyLists

/// Bytes from anywhere, and the values in them.
enum ImportedData {
    /// The dictionary on top, of whatever format. Its values are those of a property list, but not vetted.
    ///
    /// - Throws: `PrefsError.invalidImport`.
    static func values(of data: Data) throws(PrefsError) -> [String: Any] {
        let limit = PropertyListLimits.fileBytes
        guard data.count <= limit else { throw .invalidImport(reason: "larger than \(limit >> 20) MiB") }
        if data.isEmpty { throw .invalidImport(reason: "it is empty") }
        if !isPropertyList(data), data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) {
            throw .invalidImport(reason: "its encoding is UTF-16; JSON is read in UTF-8")
        }
        let top = try reading { () throws(DecodingFailure) in
            isPropertyList(data) ? try PropertyListCoder.decode(data).value : try JSONReader.value(of: data)
        }
        guard let values = top as? [String: Any] else {
            throw .invalidImport(reason: "its top level is no dictionary")
        }
        return values
    }

    /// By the first bytes.
    private static func isPropertyList(_ data: Data) -> Bool {
        data.starts(with: "bplist".utf8) || data.withUnsafeBytes(XMLPropertyListReader.isXML)
    }

    static func reading<R>(_ read: () throws(DecodingFailure) -> R) throws(PrefsError) -> R {
        do {
            return try read()
        } catch {
            throw .invalidImport(reason: error.reason)
        }
    }
}
