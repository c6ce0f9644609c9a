package import PrefsPropertyLists

/// A committed change of one entry of a domain, or several that a slow observer receives as one.
package struct EntryChange: Sendable {
    /// The entry; after a move of the observer to another entry, the new one.
    package private(set) var key: String
    package let before: EntryState
    package private(set) var after: EntryState
    /// The members that differ. Of merged changes, all members of each.
    package private(set) var difference: DictionaryDifference
    /// Whether another process, or other code of this process, made the change or a part of it.
    package private(set) var isForeign: Bool
    /// The number of merged changes.
    package private(set) var count = 1
    /// The form that the first subscriber has computed from the change, for subscribers that compute the same form.
    package private(set) var shared = Locked<(any Sendable)?>(nil)
    /// The size in memory that it adds to the change before it, estimated from its values.
    package private(set) var bytes: Int

    /// Creates a change between two states; nil if they are equal.
    package init?(of key: String, from before: EntryState, to after: EntryState, isForeign: Bool) {
        let isSameEntry = before.context === after.context
        switch (before.value, after.value) {
        case (nil, nil) where isSameEntry: return nil
        case (let before?, let after?) where isSameEntry && before.isIdentical(to: after): return nil
        default: break
        }
        self.key = key
        self.before = before
        self.after = after
        self.isForeign = isForeign
        difference = DictionaryDifference(from: before.members, to: after.members)
        bytes = Self.bytes(of: difference, to: after)
        if isSameEntry, difference.isEmpty, before.value == after.value { return nil }
    }

    /// Creates a change of an entry without a context.
    package init?(of key: String, from before: StoredValue?, to after: StoredValue?, isForeign: Bool) {
        self.init(of: key, from: EntryState(before), to: EntryState(after), isForeign: isForeign)
    }

    /// Creates the change from the entry that a subscriber knows to the entry that it starts from.
    package init?(of key: String, from known: LastKnownEntry?, to start: EntryState) {
        guard let known else { return nil }
        self.init(of: key, from: known.entry, to: start, isForeign: known.isForeign)
    }

    /// The values that differ, and the storage of the new members: unchanged values are shared, their storage is not.
    private static func bytes(of difference: DictionaryDifference, to after: EntryState) -> Int {
        difference.estimatedBytes + after.members.count * MemoryLayout<(String, StoredValue)>.stride
    }

    /// Merges a later change into this one.
    package mutating func append(_ next: EntryChange) {
        (key, after) = (next.key, next.after)
        difference.append(next.difference)
        bytes = Self.bytes(of: difference, to: after)
        isForeign = isForeign || next.isForeign
        count += next.count
        shared = Locked(nil)
    }
}
