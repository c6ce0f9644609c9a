package import PersistentPreferences

/// A store of this package as a backend, so that checks run over it, too.
package final class CheckedStore: PrefsBackend {
    private let store: PrefsStore

    package init(_ store: PrefsStore) {
        self.store = store
    }

    package func read(root: String) throws -> [String: Any]? { try store.read(root: root) }

    package func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }

    package func observe(
        root: String, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) throws -> PrefsObservation {
        try store.observe(root: root, action)
    }
}
