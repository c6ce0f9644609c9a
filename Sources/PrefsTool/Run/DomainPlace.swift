import PersistentPreferences

/// What a user names in a domain: all of it, an entry, a value of a root, or a place inside of one of these.
struct DomainPlace: Equatable {
    let root: String?
    let key: String?

    /// The value at the place; nil if there is none.
    ///
    /// - Throws: `CommandError` if a key is given for an entry that is not a dictionary.
    func value(in entries: [String: Any]) throws -> Any? {
        guard let root else { return entries }
        guard let key else { return Self.value(root, in: entries) }
        return Self.value(key, in: try Self.dictionary(entries[root], root) ?? [:])
    }

    /// The same for a value that has to exist.
    func existingValue(in entries: [String: Any]) throws -> Any {
        if let value = try value(in: entries) { return value }
        let root = root ?? ""
        guard let key, entries[root] != nil else { throw missing("root", root, among: entries) }
        throw missing("key", key, among: try Self.dictionary(entries[root], root) ?? [:])
    }

    /// Puts a value at the place; nil removes what is there. Makes a missing root.
    ///
    /// - Throws: `CommandError` if there is no such place.
    func replace(with new: Any?, in entries: inout [String: Any]) throws {
        guard let root else { return entries = [:] }
        guard let key else { return try Self.replace(root, with: new, in: &entries) }
        var values = try Self.dictionary(entries[root], root) ?? [:]
        try Self.replace(key, with: new, in: &values)
        entries[root] = values
    }

    /// Gives what is at the place another name.
    ///
    /// - Returns: true if something had that name.
    func rename(to name: String, in entries: inout [String: Any]) throws -> Bool {
        let value = try existingValue(in: entries)
        let new = DomainPlace(root: key == nil ? name : root, key: key == nil ? nil : name)
        if new == self { return false }
        try replace(with: nil, in: &entries)
        guard let root, key != nil else { return entries.updateValue(value, forKey: name) != nil }
        var values = try Self.dictionary(entries[root], root) ?? [:]
        defer { entries[root] = values }
        return values.updateValue(value, forKey: name) != nil
    }

    /// The place for messages.
    var name: String { "`\(ShownText.key(key ?? root ?? ""))`" }

    // MARK: - Paths

    private static func value(_ word: String, in values: [String: Any]) -> Any? {
        let path = path(word, in: values)
        return path.value(in: values[path.root])
    }

    private static func replace(_ word: String, with new: Any?, in values: inout [String: Any]) throws {
        let path = path(word, in: values)
        values[path.root] = try path.value(values[path.root], with: new)
    }

    /// `a.b[2]` leads into `a` if `a` is a dictionary or an array. Otherwise it is a key: names with dots are common.
    private static func path(_ word: String, in values: [String: Any]) -> ValuePath {
        func isContainer(_ key: String) -> Bool { values[key] is [Any] || values[key] is [String: Any] }
        let path = ValuePath(word) { $0 == word ? values[$0] != nil : isContainer($0) }
        return path.steps.isEmpty || isContainer(path.root) ? path : ValuePath(word, [])
    }

    private static func dictionary(_ entry: Any?, _ root: String) throws -> [String: Any]? {
        guard let entry else { return nil }
        guard let values = entry as? [String: Any] else {
            throw CommandError(
                "`\(ShownText.key(root))`: expected a dictionary, found type \(ValueText.typeName(entry))")
        }
        return values
    }

    private func missing(_ kind: String, _ name: String, among known: [String: Any]) -> CommandError {
        CommandError("no \(kind) `\(ShownText.key(name))`", near: name, among: known)
    }
}
