/// What `keys` of an instance gave the last time: an override may make its list anew at each access, most give the same.
///
/// With it, a key among a thousand is found by hashing, in 0.02 µs instead of 2.4 µs.
struct AllowedKeysCache {
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
