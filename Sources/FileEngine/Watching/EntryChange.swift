package import PrefsPropertyLists

/// A committed change of one entry of a domain.
package struct EntryChange: Sendable {
    package let key: String
    package let before: EntryState
    package let after: EntryState
    /// The difference of their members.
    package let difference: DictionaryDifference
    /// Its size in memory, estimated.
    package let bytes: Int
    /// What the first subscriber has made of the change, for others who make the same of it.
    package let shared = Locked<(any Sendable)?>(nil)
    /// Whether it was made by another process, or by other code than ours.
    package let isForeign: Bool

    /// nil if nothing has changed.
    package init?(of key: String, from before: EntryState, to after: EntryState, isForeign: Bool) {
        let isSameEntry = before.layers === after.layers
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

    /// A change of an entry that has no layers around it.
    package init?(of key: String, from before: StoredValue?, to after: StoredValue?, isForeign: Bool) {
        self.init(of: key, from: EntryState(before), to: EntryState(after), isForeign: isForeign)
    }

    /// The change from the entry that a subscriber knows to the one that it starts from.
    package init?(of key: String, from known: LastKnownEntry?, to start: EntryState) {
        guard let known else { return nil }
        self.init(of: key, from: known.entry, to: start, isForeign: known.isForeign)
    }
}
