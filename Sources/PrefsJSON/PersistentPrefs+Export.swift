public import Foundation
public import PersistentPreferences
import PrefsPropertyLists

/// Export and import: to a file, a message, another store or another class.
extension PersistentPrefs {
    /// Returns the stored values of the allowed keys as bytes, after migration. Defaults, the values of layers and keys of
    /// other versions are left out. If nothing is stored, the bytes are an empty dictionary.
    ///
    /// ```swift
    /// import PrefsJSON
    ///
    /// if let data = prefs.exported(as: .json) { try data.write(to: url) }
    /// ```
    ///
    /// An import of the bytes gives exactly the same values, except for the fractions of dates in XML; see
    /// ``ExportFormat``. Inside an `update`, the values include its changes. Costs a read, and time linear in the size
    /// of the values. Any thread.
    /// - Returns: nil if the root cannot be read, or if the format has no form for an object that another program has
    ///   stored; ``lastError`` says which. If the file is damaged, the bytes have the last known state, which a read
    ///   returns, and ``lastError`` is ``PrefsError/damaged(_:)``.
    public func exported(as format: ExportFormat) -> Data? {
        readingStored { try format.data(of: $0) }
    }

    /// Stores the values in `data`: a binary or XML property list, or JSON, recognized by its content. In JSON, dates
    /// and data may have the forms that people write.
    ///
    /// Stores all values in one transaction, or none. Inside an `update`, it joins that transaction. Nothing changes if
    /// ``ExportFormat/dictionary(from:)`` rejects the bytes (``PrefsError/invalidImport(reason:)``), if a key is not
    /// allowed, or if a value is rejected by a property list, a type or a constraint. Equal values are not written again.
    /// The data may come from anywhere; more than 256 MiB are rejected. Costs time linear in the size of the data, and a
    /// write. Any thread.
    /// - Parameters:
    ///   - data: a dictionary of values in a format of ``ExportFormat``.
    ///   - merge: true keeps the values of keys that the data does not contain. False removes them, as assigning
    ///     ``values`` does, and like that replaces a root that is no dictionary. Keys of other versions stay in both
    ///     cases.
    /// - Returns: the error of this call, or nil if the new state is committed.
    @discardableResult
    public func `import`(_ data: Data, merge: Bool) -> PrefsError? {
        assign(merging: merge) {
            let values = try ExportFormat.values(of: data)
            // The write rejects this value together with all others that do not fit.
            return Dictionary(
                uniqueKeysWithValues: values.map { key, value in
                    (
                        key,
                        ((try? declarations[key]?.property.canonical(value, forKey: key, from: .json)) ?? value)
                            .object
                    )
                })
        }
    }
}
