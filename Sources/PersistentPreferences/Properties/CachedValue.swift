import PrefsFileEngine
import PrefsPropertyLists

/// What a read for a property finds under its key.
struct StoredObject {
    let object: Any?
    /// The state that it is from, where states have a revision, and the root in it.
    let revision: Revision?
    let root: String
}

/// What a property keeps of its last read, whatever the type of its values.
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

    /// Whether a read of a root in a state would find the same. The state itself is not kept: it may be large.
    func isCurrent(in revision: Revision?, root: String) -> Bool {
        revision != nil && revision == self.revision && root == self.root
    }
}
