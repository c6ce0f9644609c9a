import PrefsFileEngine
import PrefsPropertyLists

/// The roots of a domain: what the three public stores have in common.
final class DomainStore: RootStore {
    let storage: any DomainStorage
    let layout: DomainLayout
    var place: AnyObject { storage }
    private let durability: CommitDurability
    /// Is told of every access. Nil unless this is the default domain in a test program.
    private let testProcess: TestProcess?

    /// - Parameter durability: of this store's writes.
    init(
        _ storage: any DomainStorage, layout: DomainLayout = .roots, durability: CommitDurability = .powerCut,
        testProcess: TestProcess? = nil
    ) {
        self.storage = storage
        self.layout = layout
        self.durability = durability
        self.testProcess = testProcess
    }

    // MARK: - For the public stores

    /// `PrefsStore.read`.
    func values(of root: String) throws -> [String: StoredValue]? {
        try NameVetting.checkRoot(root)
        let snapshot = try access { try $0.read(root, layout) }
        // A warning of an earlier write is not about this state.
        if let warning = snapshot.warning, !warning.isWarning { throw warning }
        return try snapshot.values()
    }

    /// `PrefsStore.update`.
    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try NameVetting.checkRoot(root)
        try update(root: root) { try $0.change(body) }
    }

    /// `PrefsStore.observe`.
    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try NameVetting.checkRoot(root)
        let mailbox = Mailbox(of: root, action)
        let subscription = try subscribe(to: root, keys: [], mailbox, from: nil)
        if let failure = subscription.failure { throw PrefsError.notWatched(failure) }
        mailbox.begin(subscription)
        return PrefsObservation { mailbox.end() }
    }

    // MARK: - For the base class, which makes the engine's errors those of the package

    func snapshot(of root: String) throws -> RootSnapshot {
        testProcess?.noteDefaultDomain()
        return try storage.read(root, layout)
    }

    func snapshotForWriting(of root: String) throws -> RootSnapshot {
        testProcess?.noteDefaultDomain()
        return try storage.readForWriting(root, layout)
    }

    func knownRevision(of root: String) -> Revision? {
        testProcess?.noteDefaultDomain()
        return storage.knownRevision
    }

    func update(root: String, _ body: (inout [String: StoredValue]?) throws -> Void) throws {
        try transact { try RootTransaction(transaction: $0, root: root, layout: layout).update(body) }
    }

    func replace(root: String, _ body: ([String: StoredValue]?) throws -> [String: StoredValue]?) throws {
        try storage.transact(durability: durability) {
            try RootTransaction(transaction: $0, root: root, layout: layout).replace(body)
        }
    }

    func acknowledge(_ revision: Revision?) throws -> Bool {
        try storage.confirm(revision, durability)
    }

    func takeWarning() -> PrefsError? {
        storage.takeWarning().map { PrefsError($0) }
    }

    func forget() {
        storage.forget()
    }

    func subscribe(
        to root: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try access { try $0.subscribe(to: layout.part(of: root), keys: keys, subscriber, from: known) }
    }

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
    }

    // MARK: - The whole domain

    /// All entries, as if the layout were flat.
    func entries() throws -> RootSnapshot {
        try access { try $0.read("", .flat) }
    }

    func subscribe(toEntry key: String, _ subscriber: any EntrySubscriber) throws -> EntrySubscription {
        try access { try $0.subscribe(to: key, keys: [key], subscriber, from: nil) }
    }

    func transact(_ body: (Transaction) throws -> Void) throws {
        try access { try $0.transact(durability: durability, body) }
    }

    private func access<R>(_ body: (any DomainStorage) throws -> R) throws -> R {
        testProcess?.noteDefaultDomain()
        return try PrefsError.converting { try body(storage) }
    }
}
