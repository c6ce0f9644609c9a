import PersistentPreferences

/// The keys whose values are shown as dots: the sensitive ones of the program's class, unless the user wants to see them.
struct Secrets {
    private let keys: Set<String>

    /// - Parameter reveals: whether nothing is hidden.
    init(of prefs: PersistentPrefs, reveals: Bool) {
        let secret = type(of: prefs).describe().filter(\.isSensitive)
        // A value under a former key is the same secret.
        keys = reveals ? [] : Set(secret.flatMap { [$0.key] + $0.formerKeys })
    }

    var isEmpty: Bool { keys.isEmpty }

    func contains(_ key: String) -> Bool { keys.contains(key) }

    func shown(_ value: StoredValue, at path: [String]) -> StoredValue {
        if path.contains(where: keys.contains) { return .string(ShownText.hidden) }
        guard !keys.isEmpty, let members = value.dictionary else { return value }
        return .dictionary(
            Dictionary(uniqueKeysWithValues: members.map { ($0.key, shown($0.value, at: [$0.key])) }))
    }

    /// Without the values that are not shown.
    func removed(from values: [String: StoredValue]) -> [String: StoredValue] {
        keys.isEmpty ? values : values.filter { !keys.contains($0.key) }
    }
}
