import PrefsFileEngine
import PrefsPropertyLists

/// The result of a read of a property: the value that is found under its key.
struct FoundValue {
    let value: StoredValue?
    /// The revision of the state, if the store has revisions, and the root key.
    let revision: Revision?
    let root: String
    /// The accepted form of the value.
    let form: ValueForm
}

/// The last read of a property, without the type of its values.
class CachedValue {
    private let stored: StoredValue?
    let isOfNothing: Bool
    let revision: Revision?
    private let root: String

    init(_ found: FoundValue) {
        stored = found.value
        isOfNothing = found.value == nil
        revision = found.revision
        root = found.root
    }

    func isOf(_ stored: StoredValue) -> Bool { self.stored == stored }

    /// Whether a read of a root at a revision would return this value. The state itself is not kept, because it may be
    /// large.
    func isCurrent(in revision: Revision?, root: String) -> Bool {
        revision != nil && revision == self.revision && root == self.root
    }
}
