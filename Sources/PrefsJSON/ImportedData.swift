import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// Reads the values in bytes of any origin.
enum ImportedData {
    /// The dictionary at the top level, in any format. Its values are not vetted.
    ///
    /// - Parameter isFile: whether the bytes are read as those of a file, with its nulls, and are not stored.
    /// - Throws: `PrefsError.invalidImport`.
    static func values(of data: Data, isFile: Bool = false) throws(PrefsError) -> [String: StoredValue] {
        let limit = PropertyListLimits.fileBytes
        guard data.count <= limit else { throw .invalidImport(reason: "larger than \(limit >> 20) MiB") }
        if data.isEmpty { throw .invalidImport(reason: "it is empty") }
        let top = try reading { () throws(DecodingFailure) in
            if data.withUnsafeBytes([FileFormat].propertyLists.recognizing) != nil {
                return try PropertyListCoder.decode(data).value
            }
            return try data.withBytes { bytes throws(DecodingFailure) in
                try JSONFormat.value(in: bytes, limits: isFile ? .file : .import)
            }
        }
        guard let values = top.dictionary else {
            throw .invalidImport(reason: "expected a dictionary at the top level, found \(ValueMismatch.kind(of: top))")
        }
        return values
    }

    static func reading<R>(_ read: () throws(DecodingFailure) -> R) throws(PrefsError) -> R {
        do {
            return try read()
        } catch {
            throw .invalidImport(reason: error.reason)
        }
    }
}
