@testable import PersistentPreferences
@testable import PrefsFileEngine

extension PersistentPrefs {
    /// For another instance on the store of this one, which must be a store of the package.
    var ownStore: any PrefsStore {
        guard let store = state.store as? DomainStore else { preconditionFailure("a store from elsewhere") }
        return SharedStore(domainStore: store)
    }
}

private final class SharedStore: DomainBackedStore {
    let domainStore: DomainStore

    init(domainStore: DomainStore) {
        self.domainStore = domainStore
    }

    func read(root: String) throws -> [String: Any]? { try domainStore.values(of: root) }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try domainStore.update(root: root, body)
    }
}

extension InMemoryStore {
    /// Whether anybody observes a root.
    var isFollowed: Bool {
        let domain = domainStore.storage as? any TransactionDomain
        return domain?.queue.feed.hasSubscribers == true
    }
}
