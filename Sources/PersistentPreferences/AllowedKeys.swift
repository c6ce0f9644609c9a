/// The keys of an instance, as one access sees them.
struct AllowedKeys {
    private let list: [String]
    /// Hashing pays from about this many keys on.
    private let set: Set<String>?

    init(_ keys: [String]) {
        list = keys
        set = keys.count > 12 ? Set(keys) : nil
    }

    func contains(_ key: String) -> Bool {
        set?.contains(key) ?? list.contains(key)
    }

    /// The part of a root that the keys let through; the root itself where they let through all of it.
    func visible(in stored: [String: Any]?) -> [String: Any] {
        guard let stored else { return [:] }
        return stored.keys.allSatisfy(contains) ? stored : stored.filter { contains($0.key) }
    }
}
