import PersistentPreferences

/// What a user names in a domain: all of it, an entry, a value of a root, or a place inside of one of these.
struct DomainPlace: Equatable {
    let root: String?
    let key: String?

    /// The value at the place; nil if there is none.
    ///
    /// - Throws: `CommandError` if a key is given for an entry that is not a dictionary.
    func value(in entries: [String: StoredValue]) throws -> StoredValue? {
        guard let root else { return .dictionary(entries) }
        guard let key else { return Self.value(root, in: entries) }
        return Self.value(key, in: try Self.dictionary(at: root, in: entries) ?? [:])
    }

    /// The same for a value that has to exist.
    func existingValue(in entries: [String: StoredValue]) throws -> StoredValue {
        if let value = try value(in: entries) { return value }
        let root = root ?? ""
        guard let key, let values = try Self.dictionary(at: root, in: entries) else {
            throw missing("root", root, among: entries)
        }
        throw missing("key", key, among: values)
    }

    /// Puts a value at the place; nil removes what is there. Makes a missing root.
    ///
    /// - Throws: `CommandError` if there is no such place.
    func replace(with new: StoredValue?, in entries: inout [String: StoredValue]) throws {
        guard let root else { return entries = [:] }
        guard let key else { return try Self.replace(root, with: new, in: &entries) }
        var values = try Self.dictionary(at: root, in: entries) ?? [:]
        try Self.replace(key, with: new, in: &values)
        entries[try Self.newName(root, in: entries)] = .dictionary(values)
    }

    /// Gives what is at the place another name.
    ///
    /// - Returns: true if something had that name.
    /// - Throws: `CommandError` if the name could be a path.
    func rename(to word: String, in entries: inout [String: StoredValue]) throws -> Bool {
        let value = try existingValue(in: entries)
        let siblings = try root.flatMap { key == nil ? entries : try Self.dictionary(at: $0, in: entries) } ?? entries
        let name = try Self.newName(word, in: siblings)
        if name == key ?? root { return false }
        try replace(with: nil, in: &entries)
        guard let root, key != nil else { return entries.updateValue(value, forKey: name) != nil }
        var values = try Self.dictionary(at: root, in: entries) ?? [:]
        defer { entries[Self.name(root, in: entries)] = .dictionary(values) }
        return values.updateValue(value, forKey: name) != nil
    }

    /// The place for messages.
    var name: String { "`\(ShownText.key(key ?? root ?? ""))`" }

    // MARK: - Paths

    private static func value(_ word: String, in values: [String: StoredValue]) -> StoredValue? {
        let path = path(word, in: values)
        return path.value(in: values[path.root])
    }

    private static func replace(_ word: String, with new: StoredValue?, in values: inout [String: StoredValue]) throws {
        let path = new == nil ? path(word, in: values) : try newPath(word, in: values)
        values[path.root] = try path.value(values[path.root], with: new)
    }

    /// A word that is a key is that key: names with dots are common. Otherwise `a.b[2]` leads into `a`.
    private static func path(_ word: String, in values: [String: StoredValue]) -> ValuePath {
        ValuePath(word) { $0 == word ? values[$0] != nil : values[$0]?.isContainer == true }
    }

    /// The place of a value to store. A path never becomes the name of a key, whatever exists.
    ///
    /// - Throws: `CommandError` if the word is neither a path nor a name, or if it leads into a dictionary that does not exist. Creating that
    ///   dictionary would split the names with dots that other programs use.
    static func newPath(_ word: String, in values: [String: StoredValue]) throws -> ValuePath {
        let path = path(word, in: values)
        guard !path.steps.isEmpty else {
            return ValuePath(try newName(word, in: values, expected: "a name or a path such as a.b[0]"), [])
        }
        if case .key? = path.steps.first, values[path.root] == nil {
            throw CommandError(
                "`\(ShownText.key(word))` leads into `\(ShownText.key(path.root))`, which does not exist; \(remedy(word))"
            )
        }
        return path
    }

    /// The name of a key that exists or is to be stored. A backslash makes a dot or a bracket part of a name.
    private static func newName(
        _ word: String, in values: [String: StoredValue], expected: String = "a name"
    ) throws -> String {
        guard values[word] != nil || ValuePath.isName(word) else {
            throw CommandError("expected \(expected), found `\(ShownText.key(word))`; \(remedy(word))")
        }
        return name(word, in: values)
    }

    private static func name(_ word: String, in values: [String: StoredValue]) -> String {
        values[word] == nil ? ValuePath.unescaped(word) : word
    }

    private static func remedy(_ word: String) -> String {
        "a new key of that name is written '\(ShownText.key(ValuePath.escaped(word)))'"
    }

    /// The keys and indexes that lead to the place: `Editor > sizes[0]`.
    func trail(in entries: [String: StoredValue]) throws -> String {
        guard let root else { return "" }
        guard let key else { return Self.path(root, in: entries).trail }
        return
            "\(Self.name(root, in: entries)) > \(Self.path(key, in: try Self.dictionary(at: root, in: entries) ?? [:]).trail)"
    }

    private static func dictionary(
        at root: String, in entries: [String: StoredValue]
    ) throws -> [String: StoredValue]? {
        guard let entry = entries[name(root, in: entries)] else { return nil }
        guard let values = entry.dictionary else {
            throw CommandError(
                "`\(ShownText.key(root))`: expected a dictionary, found type \(ValueText.typeName(entry))")
        }
        return values
    }

    private func missing(_ kind: String, _ name: String, among known: [String: StoredValue]) -> CommandError {
        CommandError("no \(kind) `\(ShownText.key(name))`", near: name, among: known)
    }
}
