import PrefsFileEngine
import PrefsPropertyLists

/// A root as it is stored, and the layers around it.
struct WholeRoot: Sendable {
    var values: [String: StoredValue]
    /// nil if the store has no layers.
    let layers: LayersOfRoot?

    init(_ entry: EntryState) {
        values = entry.members
        layers = entry.layersOfRoot
    }

    func with(_ values: [String: StoredValue]) -> WholeRoot {
        var root = self
        root.values = values
        return root
    }
}

/// One or several merged changes of a root that are waiting for an observer.
struct PendingChange: Sendable {
    /// The root key after the newest change, if the instance has moved to another root.
    private(set) var root: String
    private(set) var difference: DictionaryDifference
    /// The whole root, if it does not have the current shape of the class yet.
    private(set) var whole: (before: WholeRoot, after: WholeRoot)?
    private(set) var isForeign: Bool
    private(set) var count = 1
    /// Its size in memory, estimated from its values.
    private(set) var bytes = 0
    /// What the change shows to each of several observers; nil if others see something else.
    private(set) var shared: Locked<(any Sendable)?>?

    init(_ change: EntryChange, root: String, keepsWhole: Bool) {
        self.root = root
        difference = change.difference
        isForeign = change.isForeign
        bytes = change.bytes
        if keepsWhole {
            whole = (WholeRoot(change.before), WholeRoot(change.after))
            bytes = estimatedBytes
        } else {
            shared = change.shared
        }
    }

    private var estimatedBytes: Int {
        let (before, after) = (whole?.before.values ?? [:], whole?.after.values ?? [:])
        return difference.estimatedBytes + before.estimatedBytes + after.estimatedBytes
    }

    /// The root before the change, computed from a later one.
    func former(of root: [String: StoredValue]?) -> [String: StoredValue]? {
        let former = whole?.before.values ?? difference.reverted(from: root ?? [:])
        return former.isEmpty ? nil : former
    }

    /// Keeps the part that concerns some of the keys.
    mutating func filter(to keys: Set<String>) {
        difference = difference.filtered(to: keys)
        shared = nil
        bytes = estimatedBytes
    }

    mutating func append(_ next: PendingChange) {
        switch (whole, next.whole) {
        case (nil, nil): break
        case (let whole?, let nextWhole):
            let after = nextWhole?.after ?? whole.after.with(next.difference.applied(to: whole.after.values))
            self.whole = (whole.before, after)
        case (nil, let nextWhole?):
            whole = (nextWhole.before.with(difference.reverted(from: nextWhole.before.values)), nextWhole.after)
        }
        root = next.root
        shared = nil
        difference.append(next.difference)
        isForeign = isForeign || next.isForeign
        count += next.count
        bytes = estimatedBytes
    }
}

/// Changes that an observer has not yet received, in order. If there are too many, the newest become one.
struct WaitingChanges {
    static let capacity = 1_024
    /// And of so many bytes; one at least.
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
            // Taken out, so that it is changed in place.
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
