package import PrefsPropertyLists

/// An entry of a domain at one moment, as its subscribers know it.
package struct EntryState: Sendable {
    /// The stored value; nil if the entry is missing.
    package let value: StoredValue?
    /// What the store keeps around the entry, if anything.
    package let context: (any EntryContext)?

    package init(_ value: StoredValue?, in context: (any EntryContext)? = nil) {
        self.value = value
        self.context = context
    }

    /// The members of a dictionary. An entry that is missing or of another type counts as empty.
    package var members: [String: StoredValue] { value?.dictionary ?? [:] }
}

/// What is around an entry. Only the store understands it. Different objects are different states.
package protocol EntryContext: AnyObject, Sendable {}
