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
        (set?.contains(key) ?? list.contains(key)) && key != RootSchema.versionKey
    }

    /// The part of a root that the keys let through; the root itself where they let through all of it.
    func visible(in stored: [String: Any]?) -> [String: Any] {
        guard let stored else { return [:] }
        let keys = set == nil ? AllowedKeys(list, isForMany: true) : self
        return stored.keys.allSatisfy(keys.contains) ? stored : stored.filter { keys.contains($0.key) }
    }
}

/// What `keys` of an instance gave the last time: an override may make its list anew at each access, most give the same.
struct LastKeys {
    private var given: [String]
    private(set) var allowed: AllowedKeys
    private var isForMany = false

    /// - Parameter declared: the keys of declared properties, which an override need not repeat.
    init(_ keys: [String], and declared: AllowedKeys) {
        given = keys
        allowed = AllowedKeys(declared.list.isEmpty ? keys : keys + declared.list, isForMany: false)
    }

    /// True where the list is the same one. Comparing all of it would cost what making the keys does.
    mutating func areMade(of keys: [String]) -> Bool {
        guard Self.areSame(given, keys) else { return false }
        if !isForMany {
            isForMany = true
            allowed = AllowedKeys(allowed.list, isForMany: true)
        }
        return true
    }

    static func areSame(_ left: [String], _ right: [String]) -> Bool {
        left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { $0.baseAddress == left.baseAddress && $0.count == left.count }
        }
    }
}
