/// The last result of `keys` of an instance. An override may create its list for each access; most return the same
/// list.
///
/// With it, a key among a thousand is found by hashing, in 0.02 µs instead of 2.4 µs.
struct AllowedKeysCache {
    private var given: [String]
    private(set) var allowed: AllowedKeys
    private var isForMany = false

    /// - Parameter declared: the keys of declared properties, which an override need not repeat.
    init(_ keys: [String], and declared: AllowedKeys) {
        given = keys
        allowed = AllowedKeys(
            declared.list.isEmpty ? keys : keys + declared.list, versionKey: declared.versionKey, isForMany: false)
    }

    /// True if the list has the same storage. A comparison of its elements would cost as much as creating the keys.
    mutating func areMade(of keys: [String]) -> Bool {
        guard Self.areSame(given, keys) else { return false }
        if !isForMany {
            isForMany = true
            allowed = AllowedKeys(allowed.list, versionKey: allowed.versionKey, isForMany: true)
        }
        return true
    }

    static func areSame(_ left: [String], _ right: [String]) -> Bool {
        left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { $0.baseAddress == left.baseAddress && $0.count == left.count }
        }
    }
}
