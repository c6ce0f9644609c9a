import PrefsFileEngine
import PrefsPropertyLists

/// The object that a read of a property finds under its key.
struct StoredObject {
    let object: Any?
    /// The revision of the state, if the store has revisions, and the root key.
    let revision: Revision?
    let root: String
}

/// The last read of a property, without the type of its values.
class CachedValue {
    private let object: Any?
    let isOfNothing: Bool
    private let revision: Revision?
    private let root: String

    init(_ found: StoredObject) {
        object = found.object
        isOfNothing = found.object == nil
        revision = found.revision
        root = found.root
    }

    func isOf(_ object: Any) -> Bool {
        self.object.map { CanonicalValue.areEqual($0, object) } ?? false
    }

    /// Whether a read of a root at a revision would give the same value. The state itself is not kept, because it may be large.
    func isCurrent(in revision: Revision?, root: String) -> Bool {
        revision != nil && revision == self.revision && root == self.root
    }
}
