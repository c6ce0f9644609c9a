import PersistentPreferences

/// The containers that a change of a domain would lose because of one forgotten word.
struct Risks {
    private(set) var texts: [String] = []

    init() {}

    /// Finds the dictionaries and arrays that another kind of value replaces.
    init(from before: [String: StoredValue], to after: [String: StoredValue]) {
        addReplaced(before, after, nil)
    }

    mutating func add(_ text: String) {
        if !texts.contains(text) { texts.append(text) }
    }

    /// - Parameter place: the path of the value: `Editor.sizes[0]`.
    static func change(of old: StoredValue, to new: StoredValue, at place: String) -> String {
        "the \(ValueText.typeName(old)) `\(ShownText.key(place))` would become a value of type \(ValueText.typeName(new))"
    }

    func contains(_ others: Risks) -> Bool { Set(texts).isSuperset(of: others.texts) }

    private mutating func addReplaced(
        _ before: [String: StoredValue], _ after: [String: StoredValue], _ parent: ValuePath?
    ) {
        for (key, old) in before.sorted(by: { $0.key < $1.key }) {
            let path = parent?.appending(.key(key)) ?? ValuePath(key)
            switch (old, after[key]) {
            case (.dictionary(let old), .dictionary(let new)?): addReplaced(old, new, path)
            case (.array, .array?): break
            case (.dictionary, let new?), (.array, let new?):
                add(Self.change(of: old, to: new, at: path.text))
            default: break
            }
        }
    }
}
