package import PrefsPropertyLists

/// A committed change of one entry of a domain.
package struct EntryChange: Sendable {
    package let key: String
    package let before: EntryState
    package let after: EntryState
    /// The difference of their members.
    package let difference: DictionaryDifference
    /// The estimated size in memory.
    package let bytes: Int
    /// The form that the first subscriber has computed from the change, for subscribers that compute the same form.
    package let shared = Locked<(any Sendable)?>(nil)
    /// Whether another process, or other code of this process, made the change.
    package let isForeign: Bool

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
        bytes = difference.estimatedBytes
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
}
