/// The keys of an instance, as one access sees them. The version of a root is never among them.
struct AllowedKeys {
    let list: [String]
    /// Hashing pays from about this many keys on.
    private let set: Set<String>?

    init(_ keys: [String]) {
        list = keys
        set = keys.count > 12 ? Set(keys) : nil
    }

    /// Both; the others as they are where the list is theirs.
    init(_ keys: [String], and others: AllowedKeys) {
        let isTheirs = keys.withUnsafeBufferPointer { keys in
            others.list.withUnsafeBufferPointer { $0.baseAddress == keys.baseAddress && $0.count == keys.count }
        }
        self = isTheirs ? others : others.list.isEmpty ? AllowedKeys(keys) : AllowedKeys(keys + others.list)
    }

    func contains(_ key: String) -> Bool {
        (set?.contains(key) ?? list.contains(key)) && key != RootSchema.versionKey
    }

    /// The part of a root that the keys let through; the root itself where they let through all of it.
    func visible(in stored: [String: Any]?) -> [String: Any] {
        guard let stored else { return [:] }
        return stored.keys.allSatisfy(contains) ? stored : stored.filter { contains($0.key) }
    }
}
