package import PrefsPropertyLists

/// The keys of an instance, as seen by one access. They never include the key of the version.
package struct AllowedKeys {
    package let list: [String]
    private let set: Set<String>?
    let versionKey: String

    /// With more keys than this, hashing is faster than a search if more than one key is looked for.
    private static let fewKeys = 12

    /// - Parameter isForMany: whether more than one key will be looked for.
    init(_ keys: [String], versionKey: String, isForMany: Bool) {
        list = keys
        self.versionKey = versionKey
        set = isForMany && keys.count > Self.fewKeys ? Set(keys) : nil
    }

    package func contains(_ key: String) -> Bool {
        StreamSafeText.isSafe(key) && (set?.contains(key) ?? list.contains(key)) && key != versionKey
    }

    /// The allowed part of a root, without nulls; the root itself if all of its keys are allowed.
    package func visible(in stored: [String: StoredValue]?) -> [String: StoredValue] {
        guard let stored else { return [:] }
        let keys = set == nil ? AllowedKeys(list, versionKey: versionKey, isForMany: true) : self
        if stored.keys.allSatisfy(keys.contains), !stored.values.contains(where: \.isNull) { return stored }
        return stored.filter { keys.contains($0.key) && !$0.value.isNull }
    }
}
