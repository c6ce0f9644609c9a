import PrefsPropertyLists

/// A committed change of a root: the keys that were added, changed or removed, with their values before and after.
///
/// One for each write or update that changed something. If more than 1,024 changes, or 8 MiB of them, wait for an observer,
/// the newest become one: the keys of all, with the values before the first and after the last, which may be equal; ``count``
/// says how many they were. What another process commits in quick succession may be one change, too.
///
/// Values are in canonical form: String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`. Safe to pass between
/// threads.
public struct PrefsChange: @unchecked Sendable {
    // Unchecked because canonical property-list values, which never change, are not Sendable.

    /// Where a change was made.
    public enum Origin: Sendable, Hashable {
        /// In this process, through any object of this package.
        case thisProcess
        /// In another process, or by other code that writes the same place. A change that is several has this origin if
        /// one of them has.
        case elsewhere
    }

    /// The root key.
    public let root: String
    /// Where the change was made.
    public let origin: Origin
    /// The number of commits that have become this change: 1 unless the observer is slow.
    public let count: Int
    let difference: DictionaryDifference

    /// The keys, sorted.
    public var keys: [String] { difference.keys.sorted() }

    /// The values of ``keys`` before the change; those that were added have none.
    public var oldValues: [String: Any] { difference.old }

    /// The values of ``keys`` after the change; those that were removed have none.
    public var newValues: [String: Any] { difference.new }

    init(root: String, _ difference: DictionaryDifference, isForeign: Bool, count: Int) {
        self.root = root
        self.difference = difference
        self.count = count
        origin = isForeign ? .elsewhere : .thisProcess
    }

    /// For a ``PrefsStore`` of your own: the difference between two states of a root, in canonical form; nil if they are
    /// equal. Cost: linear in the number of keys.
    public init?(root: String, from before: [String: Any]?, to after: [String: Any]?, origin: Origin) {
        let difference = DictionaryDifference(from: before ?? [:], to: after ?? [:])
        if difference.isEmpty { return nil }
        self.init(root: root, difference, isForeign: origin == .elsewhere, count: 1)
    }
}
