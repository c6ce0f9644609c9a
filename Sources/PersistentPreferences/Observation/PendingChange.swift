import PrefsFileEngine
import PrefsPropertyLists

/// One or several merged changes of a root that are waiting for an observer.
package struct PendingChange: Sendable {
    /// The root key after the newest change, if the instance has moved to another root.
    private(set) var root: String
    private(set) var difference: DictionaryDifference
    /// The whole root, if it does not have the current shape of the class yet.
    package private(set) var whole: (before: EntryState, after: EntryState)?
    private(set) var isForeign: Bool
    private(set) var count = 1
    /// Its size in memory, estimated from its values.
    private(set) var bytes = 0
    /// The visible part of the change that several observers share; nil if they see different parts.
    private(set) var shared: Locked<(any Sendable)?>?

    package init(_ change: EntryChange, root: String, keepsWhole: Bool) {
        self.root = root
        difference = change.difference
        isForeign = change.isForeign
        bytes = change.bytes
        if keepsWhole {
            whole = (change.before, change.after)
            bytes = estimatedBytes
        } else {
            shared = change.shared
        }
    }

    private var estimatedBytes: Int {
        let (before, after) = (whole?.before.members ?? [:], whole?.after.members ?? [:])
        return difference.estimatedBytes + before.estimatedBytes + after.estimatedBytes
    }

    /// The root before the change, computed from a later state.
    func former(of root: EntryState) -> EntryState {
        let former = whole?.before.members ?? difference.reverted(from: root.members)
        return EntryState(former.isEmpty ? nil : .dictionary(former), in: whole?.before.context ?? root.context)
    }

    /// Removes the part that concerns other keys.
    mutating func filter(to keys: Set<String>) {
        difference = difference.filtered(to: keys)
        shared = nil
        bytes = estimatedBytes
    }

    mutating func append(_ next: PendingChange) {
        switch (whole, next.whole) {
        case (nil, nil): break
        case (let whole?, let nextWhole):
            let after = nextWhole?.after ?? whole.after.with(next.difference.applied(to: whole.after.members))
            self.whole = (whole.before, after)
        case (nil, let nextWhole?):
            whole = (nextWhole.before.with(difference.reverted(from: nextWhole.before.members)), nextWhole.after)
        }
        root = next.root
        shared = nil
        difference.append(next.difference)
        isForeign = isForeign || next.isForeign
        count += next.count
        bytes = estimatedBytes
    }
}

/// Changes that an observer has not yet received, in order. If there are too many, the newest are merged.
struct WaitingChanges {
    static let capacity = 1_024
    /// The most bytes that wait, apart from one change that may be larger.
    static let byteCapacity = 2 * PropertyListLimits.rootBytes

    private var changes: [PendingChange?] = []
    private var first = 0
    private var bytes = 0

    var isEmpty: Bool { first == changes.count }

    mutating func append(_ change: PendingChange) {
        if isEmpty || changes.count - first < Self.capacity && bytes + change.bytes <= Self.byteCapacity {
            bytes += change.bytes
            changes.append(change)
        } else {
            // Taken out of the array, so that it is changed in place.
            var last = changes.removeLast()
            bytes -= last?.bytes ?? 0
            last?.append(change)
            bytes += last?.bytes ?? 0
            changes.append(last)
        }
    }

    mutating func popFirst() -> PendingChange? {
        guard !isEmpty else { return nil }
        defer {
            bytes -= changes[first]?.bytes ?? 0
            changes[first] = nil
            first += 1
            if isEmpty {
                self = WaitingChanges()
            } else if first == Self.capacity {
                changes.removeFirst(first)
                first = 0
            }
        }
        return changes[first]
    }
}
