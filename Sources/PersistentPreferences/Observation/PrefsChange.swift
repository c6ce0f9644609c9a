import PrefsFileEngine
package import PrefsPropertyLists

/// A committed change of a root: the keys that were added, changed or removed, with their values before and after.
///
/// ```swift
/// let observation = prefs.onChange { change in
///     for key in change.keys { print(key, change.oldValues[key] ?? "-", change.newValues[key] ?? "-") }
/// }
/// ```
///
/// ## Behavior
/// Each commit of this process that changed something is one change. If more than 1,024 changes, or 8 MiB of them, wait
/// for an observer, the newest are merged into one. It has the keys of all merged changes, with the values before the
/// first and after the last, so a key may have the same value twice. ``count`` is their number. Commits of other
/// processes may be merged before they are seen.
///
/// Values are String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`.
///
/// ## Threads
/// May be passed between threads.
public struct PrefsChange: Sendable {
    /// Where a change was made.
    public enum Origin: Sendable, Hashable {
        /// In this process, through any object of this package.
        case thisProcess
        /// In another process, or by other code that writes the same place. A merged change has this origin if one of
        /// its parts has it.
        case elsewhere
    }

    package let root: String
    /// Where the change was made.
    public let origin: Origin
    /// The number of changes that this one merges; 1 unless the observer is slow. Commits of another process that were
    /// merged before they were seen count as one.
    public let count: Int
    package let difference: DictionaryDifference
    /// The objects of the values, made once for all copies.
    private let objects = Locked<(old: [String: Any], new: [String: Any])?>(nil)

    /// The keys, sorted.
    public var keys: [String] { difference.keys.sorted() }

    /// The values of ``keys`` before the change. Added keys are missing. The first access costs time linear in the size
    /// of the values.
    public var oldValues: [String: Any] { values.old }

    /// The values of ``keys`` after the change. Removed keys are missing. The first access costs time linear in the
    /// size of the values.
    public var newValues: [String: Any] { values.new }

    private var values: (old: [String: Any], new: [String: Any]) {
        objects.withLock { objects in
            let values = objects ?? (difference.old.objects, difference.new.objects)
            objects = values
            return values
        }
    }

    /// - Parameter difference: the visible part of the change.
    init(root: String, _ difference: DictionaryDifference, of change: EntryChange) {
        self.init(
            root: root, difference, origin: change.isForeign ? .elsewhere : .thisProcess, count: change.count)
    }

    package init(root: String, _ difference: DictionaryDifference, origin: Origin, count: Int) {
        (self.root, self.difference, self.origin, self.count) = (root, difference, origin, count)
    }
}

extension PrefsChange: HidesValues {
    package var shownParts: KeyValuePairs<String, Any> {
        ["root": root, "keys": keys, "origin": origin, "count": count]
    }
}
