import PrefsPropertyLists

/// The keys that a rejected write names, sorted; see ``PrefsError/incorrectKeys(invalidElements:)`` and
/// ``PrefsError/valuesNotPlistCompatible(invalidElements:)``.
///
/// A collection of the keys, which are an array in RVS_PersistentPrefs. ``PrefsError/problems`` gives the reasons. A value
/// type; may be passed between threads.
public struct InvalidKeys: RandomAccessCollection, ExpressibleByArrayLiteral, Sendable {
    private let keys: [String]
    /// The reasons, for values that a property list cannot hold.
    private let reasons: [PropertyListFailure]
    /// The keys that could have been meant, for keys that are not allowed.
    private let allowed: [String]

    init(_ keys: [String], failures: [PropertyListFailure] = [], among allowed: [String] = []) {
        (self.keys, reasons, self.allowed) = (keys, failures, allowed)
    }

    package init(_ keys: some Sequence<String>) { self.init(Array(keys), failures: []) }

    /// Creates the keys of an error that a test expects.
    public init(arrayLiteral keys: String...) { self.init(keys, failures: []) }

    /// The position of the first key: 0.
    public var startIndex: Int { 0 }
    /// The number of keys.
    public var endIndex: Int { keys.count }
    /// The key at a position.
    public subscript(position: Int) -> String { keys[position] }

    var failures: [PropertyListFailure] {
        if !reasons.isEmpty { return reasons }
        return keys.map {
            PropertyListFailure(path: $0, topLevelKey: $0, reason: "cannot be stored in a property list")
        }
    }

    /// The allowed key that the only key resembles; nil if none does. Not sought before it is asked for, because a class
    /// may have a thousand keys.
    var nearestAllowed: String? {
        guard keys.count == 1, StreamSafeText.isSafe(keys[0]) else { return nil }
        // The key of the version is in the list, and cannot be meant.
        return NearestWord(among: allowed.filter { $0 != keys[0] }).nearest(to: keys[0])
    }
}

extension InvalidKeys: CustomStringConvertible {
    /// The text of an array: `["a", "b"]`.
    public var description: String { keys.description }
}
