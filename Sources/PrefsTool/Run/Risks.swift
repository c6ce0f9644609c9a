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
        texts.append(text)
    }

    func contains(_ others: Risks) -> Bool { Set(texts).isSuperset(of: others.texts) }

    private mutating func addReplaced(_ before: [String: Any], _ after: [String: Any], _ path: [String]) {
        for (key, old) in before.sorted(by: { $0.key < $1.key }) {
            guard let new = after[key], old is [Any] || old is [String: Any] else { continue }
            if let old = old as? [String: Any], let new = new as? [String: Any] {
                addReplaced(old, new, path + [key])
            } else if !(old is [Any] && new is [Any]) {
                let name = ShownText.key((path + [key]).joined(separator: " > "))
                add("the \(ValueText.typeName(old)) `\(name)` would become a value of type \(ValueText.typeName(new))")
            }
        }
    }
}
