package import PrefsPropertyLists

/// An entry of a domain at one moment, as its subscribers know it.
package struct EntryState: Sendable {
    /// What is stored; nil if there is no entry.
    package let value: StoredValue?
    /// What a layered store puts around it; nil for every other store.
    package let layers: (any EntryLayers)?

    package init(_ value: StoredValue?, in layers: (any EntryLayers)? = nil) {
        self.value = value
        self.layers = layers
    }

    /// The members of a dictionary. An entry that is missing or of another type counts as empty.
    package var members: [String: StoredValue] { value?.dictionary ?? [:] }

    /// Other members between the same layers.
    package func with(_ members: [String: StoredValue]) -> EntryState { EntryState(.dictionary(members), in: layers) }
}

/// The layers around an entry, which only their store understands. Two objects are two states.
package protocol EntryLayers: AnyObject, Sendable {}
