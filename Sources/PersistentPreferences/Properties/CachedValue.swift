import PrefsFileEngine
import PrefsPropertyLists

/// The result of a read of a property: the value that is found under its key.
struct ReadResult {
    let value: StoredValue?
    /// The revision of the state, if the store has revisions, and the root key.
    let revision: Revision?
    let root: String
    /// The accepted form of the value.
    let form: ValueForm
}

/// The last read of a property, without the type of its values.
class CachedValue {
    let key: String
    private let stored: StoredValue?
    let isOfNothing: Bool
    /// Whether `isValid` has to be asked: the property has a constraint, which a default satisfies.
    let isChecked: Bool
    let revision: Revision?
    private let root: String

    init(_ found: ReadResult, forKey key: String, isChecked: Bool) {
        (self.key, self.isChecked) = (key, isChecked)
        stored = found.value
        isOfNothing = found.value == nil
        revision = found.revision
        root = found.root
    }

    func isOf(_ stored: StoredValue) -> Bool { self.stored == stored }

    /// Whether the value satisfies the constraint of its property. Asked at each read, because a constraint may depend on
    /// something that changes.
    var isValid: Bool { true }

    /// Whether a read of a root at a revision would return this value. The state itself is not kept, because it may be
    /// large.
    func isCurrent(in revision: Revision?, root: String) -> Bool {
        revision != nil && revision == self.revision && root == self.root
    }
}
