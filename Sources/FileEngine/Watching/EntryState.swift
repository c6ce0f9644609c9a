package import PrefsPropertyLists

/// An entry of a domain at one moment, as its subscribers know it.
package struct EntryState: Sendable {
    /// The stored value; nil if the entry is missing.
    package let value: StoredValue?
    /// The layers of a layered store; nil for every other store.
    package let layers: (any EntryLayers)?

    package init(_ value: StoredValue?, in layers: (any EntryLayers)? = nil) {
        self.value = value
        self.layers = layers
    }

    /// The members of a dictionary. An entry that is missing or of another type counts as empty.
    package var members: [String: StoredValue] { value?.dictionary ?? [:] }

    /// Returns a state with other members between these layers.
    package func with(_ members: [String: StoredValue]) -> EntryState { EntryState(.dictionary(members), in: layers) }
}

/// The layers around an entry, which only their store understands. Different objects are different states.
package protocol EntryLayers: AnyObject, Sendable {}
