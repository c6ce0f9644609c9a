import PersistentPreferences

/// What a change of a domain would lose by one forgotten word.
struct Risks {
    private(set) var texts: [String] = []

    init() {}

    /// The dictionaries and arrays that another kind of value replaces.
    init(from before: [String: Any], to after: [String: Any]) {
        addReplaced(before, after, [])
    }

    mutating func add(_ text: String) {
        if !texts.contains(text) { texts.append(text) }
    }

    /// - Parameter place: the keys that lead to the value: `Editor > sizes[0]`.
    static func change(of old: Any, to new: Any, at place: String) -> String {
        "the \(ValueText.typeName(old)) `\(ShownText.key(place))` would become a value of type \(ValueText.typeName(new))"
    }

    func contains(_ others: Risks) -> Bool { Set(texts).isSuperset(of: others.texts) }

    private mutating func addReplaced(_ before: [String: Any], _ after: [String: Any], _ path: [String]) {
        for (key, old) in before.sorted(by: { $0.key < $1.key }) {
            guard let new = after[key], old is [Any] || old is [String: Any] else { continue }
            if let old = old as? [String: Any], let new = new as? [String: Any] {
                addReplaced(old, new, path + [key])
            } else if !(old is [Any] && new is [Any]) {
                add(Self.change(of: old, to: new, at: (path + [key]).joined(separator: " > ")))
            }
        }
    }
}
