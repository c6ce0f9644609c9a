import PersistentPreferences
import PrefsLayers
import PrefsPropertyLists

/// The keys whose values are shown as dots: the sensitive ones of the program's class, unless the user wants to see
/// them.
struct Secrets {
    /// Hides nothing.
    static let none = Secrets(keys: [], prefs: nil)

    private let keys: Set<String>
    /// nil if nothing is hidden.
    private let prefs: PersistentPrefs?

    private init(keys: Set<String>, prefs: PersistentPrefs?) {
        (self.keys, self.prefs) = (keys, prefs)
    }

    /// - Parameter reveals: whether nothing is hidden.
    init(of prefs: PersistentPrefs, reveals: Bool) {
        let secret = reveals ? [] : PrefsKey.all(of: prefs).filter { prefs.isSensitive($0.name) }
        // A value under a former key is a secret, too.
        let keys = secret.flatMap { [$0.name] + ($0.description?.formerKeys ?? []) }
        self.init(keys: Set(keys), prefs: reveals ? nil : prefs)
    }

    /// The secrets of now. A file of a folder of secrets may have come since.
    var current: Secrets { prefs.map { Secrets(of: $0, reveals: false) } ?? self }

    var isEmpty: Bool { keys.isEmpty }

    func contains(_ key: String) -> Bool { keys.contains(key) }

    func contains(_ path: ValuePath) -> Bool { path.names.contains { $0.string.map(keys.contains) ?? false } }

    func shown(_ value: StoredValue, at path: [String]) -> StoredValue {
        if path.contains(where: keys.contains) { return .string(ShownText.hidden) }
        guard !keys.isEmpty, let members = value.dictionary else { return value }
        return .dictionary(
            Dictionary(uniqueKeysWithValues: members.map { ($0.key, shown($0.value, at: [$0.key])) }))
    }

    func shown(_ value: StoredValue, at path: ValuePath) -> StoredValue {
        shown(value, at: path.names.compactMap(\.string))
    }

    /// Returns the values without the hidden ones.
    ///
    /// - Parameter isDeep: whether the settings are in a root among the values.
    func removed(from values: [String: StoredValue], isDeep: Bool = false) -> [String: StoredValue] {
        if keys.isEmpty { return values }
        let kept = values.filter { !keys.contains($0.key) }
        return isDeep ? kept.mapValues { $0.dictionary.map { .dictionary(removed(from: $0)) } ?? $0 } : kept
    }

    /// Returns what `removed(from:isDeep:)` leaves out.
    func only(in values: [String: StoredValue], isDeep: Bool = false) -> [String: StoredValue] {
        if keys.isEmpty { return [:] }
        return values.reduce(into: [:]) { secret, entry in
            if keys.contains(entry.key) {
                secret[entry.key] = entry.value
            } else if isDeep, let members = entry.value.dictionary.map({ only(in: $0) }), !members.isEmpty {
                secret[entry.key] = .dictionary(members)
            }
        }
    }
}
