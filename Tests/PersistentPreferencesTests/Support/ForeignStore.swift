import PersistentPreferences

/// A store from outside the package: it has the public requirements and nothing else.
final class ForeignStore: PrefsStore {
    private let store: InMemoryStore

    init(_ store: InMemoryStore = InMemoryStore()) {
        self.store = store
    }

    func read(root: String) throws -> [String: Any]? {
        try store.read(root: root)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }
}
