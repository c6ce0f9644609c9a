import Foundation
import PrefsFileEngine

/// A domain of `UserDefaults`, reached through `UserDefaults`.
struct DefaultsBackend: DomainBackend {
    let fileURL: URL? = nil
    private let domain: DefaultsDomain

    init(_ domain: DefaultsDomain) {
        self.domain = domain
    }

    func read(root: String, _ layout: DomainLayout) throws -> RootSnapshot {
        try NameVetting.checkRoot(root)
        return try PrefsError.converting {
            if let content = transactionContent { return RootSnapshot(of: root, in: content, layout: layout) }
            guard layout == .roots else { return try RootSnapshot(flat: domain, root: root) }
            let entry = try domain.entry(root)
            return RootSnapshot(of: root, in: entry.object.map { [root: $0] }, revision: entry.revision)
        }
    }

    /// The content of the thread's own transaction; nil if it has none.
    private var transactionContent: Transaction.Content? {
        guard let transaction = Transaction.current, transaction.owner === domain.queue else { return nil }
        return transaction.content ?? [:]
    }

    func transact(_ root: String, _ layout: DomainLayout, _ body: (RootTransaction) throws -> Void) throws {
        try NameVetting.checkRoot(root)
        try PrefsError.converting {
            try transact { try body(RootTransaction(transaction: $0, root: root, layout: layout)) }
        }
    }

    func subscribe(
        to root: String, _ layout: DomainLayout, keys: [String], _ subscriber: any EntrySubscriber,
        from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try NameVetting.checkRoot(root)
        if layout == .flat { domain.expect(keys) }
        return try domain.queue.feed.subscribe(to: layout.part(of: root), subscriber, from: known)
    }

    func entry(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
        try PrefsError.converting {
            if let content = transactionContent { return content[key] }
            return try domain.entry(key).object
        }
    }

    @Sendable func content() throws -> (content: [String: Any]?, failure: PrefsError?) {
        (try transactionContent ?? domain.content(), nil)
    }

    @Sendable func transact(_ body: (Transaction) throws -> Void) throws {
        try domain.transact(durability: .process, body)
    }

    func setEntry(_ object: Any?, forKey key: String) throws {
        try PrefsError.converting { try transact { $0.replace(key, with: object) } }
    }

    func takeWarning() -> PrefsError? { domain.takeWarning().map { PrefsError($0) } }

    func confirm() {}

    func forget() {}
}
