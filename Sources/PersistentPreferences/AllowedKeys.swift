import PrefsPropertyLists

/// The keys of an instance, as one access sees them. The version of a root is never among them.
struct AllowedKeys {
    let list: [String]
    private let set: Set<String>?

    /// From about this many keys on hashing pays, where more than one is looked for.
    private static let fewKeys = 12

    /// - Parameter isForMany: whether more than one key will be looked for.
    init(_ keys: [String], isForMany: Bool) {
        list = keys
        set = isForMany && keys.count > Self.fewKeys ? Set(keys) : nil
    }

    func contains(_ key: String) -> Bool {
        StreamSafeText.isSafe(key) && (set?.contains(key) ?? list.contains(key)) && key != RootSchema.versionKey
    }

    /// The part of a root that the keys let through; the root itself where they let through all of it.
    func visible(in stored: [String: Any]?) -> [String: Any] {
        guard let stored else { return [:] }
        let keys = set == nil ? AllowedKeys(list, isForMany: true) : self
        return stored.keys.allSatisfy(keys.contains) ? stored : stored.filter { keys.contains($0.key) }
    }
}
