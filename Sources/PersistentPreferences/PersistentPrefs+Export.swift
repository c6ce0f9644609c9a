public import Foundation

/// Roots on the move: into a file, a message, another store or another class.
extension PersistentPrefs {
    /// What ``values`` shows, as bytes: the stored values of the allowed keys in the shape of now, no defaults, no keys
    /// of other versions; an empty dictionary where nothing is stored.
    ///
    /// Importing them gives the same values back, exactly, but for the fractions of dates in XML; see ``ExportFormat``.
    /// Cost: a read, and linear in the size of the values. Any thread; inside an `update` it sees what that has
    /// written.
    /// - Returns: nil where the root cannot be read, or holds an object of another program that the form cannot;
    ///   ``lastError`` says which. As with every read, ``lastError`` may tell of a damaged file and the values be those
    ///   restored.
    public func exported(as format: ExportFormat) -> Data? {
        state.bridge.access(nil, of: self)
        return read { try format.data(of: allowedKeys.visible(in: $0.values())) }
    }

    /// Stores the values that the bytes hold: a property list, binary or XML, or JSON, told apart by their content.
    ///
    /// All or nothing, in one transaction, inside an `update` in that one: bytes that cannot be read
    /// (``PrefsError/invalidImport(reason:)``), keys that are not allowed, values that a property list cannot hold or a
    /// constraint forbids change nothing. Values that are there already are not written again. Bytes that anybody made
    /// may be given; beyond 256 MiB they are not looked at. Cost: linear in their number, and a write. Any thread.
    /// - Parameters:
    ///   - data: in a form of ``ExportFormat``; a dictionary of values by their keys.
    ///   - merge: whether the keys that the data does not have keep their values. If false, those that are allowed are
    ///     removed, as by assigning ``values``. Keys of other versions stay in either case.
    /// - Returns: the error of this very call; nil where the new state is committed.
    @discardableResult
    public func `import`(_ data: Data, merge: Bool) -> PrefsError? {
        write { try assign(ImportedData.values(of: data), merging: merge, in: &$0) }
    }
}
