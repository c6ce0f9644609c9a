import PrefsFileEngine
import PrefsPropertyLists

/// The store that the base class uses: `DomainStore` for the stores of this package, `StoreAdapter` for any other.
///
/// The caller checks root keys.
protocol RootStore: AnyObject, Sendable {
    var layout: DomainLayout { get }

    /// The object that keeps the roots. Two stores with the same one have the same roots.
    var place: AnyObject { get }

    /// The current state. The root is extracted when it is needed.
    func snapshot(of root: String) throws -> RootSnapshot

    /// The revision of the current state, if this process has read it and a read would report nothing. nil decides nothing.
    func knownRevision(of root: String) -> Revision?
    /// The same for a write, which may be dropped if it equals the state: never older than the write.
    func snapshotForWriting(of root: String) throws -> RootSnapshot

    /// As `PrefsStore.read`.
    func values(of root: String) throws -> [String: StoredValue]?

    /// As `PrefsStore.update`.
    func update(root: String, _ body: (inout [String: StoredValue]?) throws -> Void) throws

    /// An update whose body returns what to store, vetted; nil leaves the root as it is.
    func replace(root: String, _ body: ([String: StoredValue]?) throws -> [String: StoredValue]?) throws

    /// Acknowledges a write that equals the stored state: makes that state as durable as the store promises.
    ///
    /// - Parameter revision: of the snapshot that the write was compared with.
    /// - Returns: false if the cached state was durable already, so that the file was not read again.
    func acknowledge(_ revision: Revision?) throws -> Bool

    /// A warning of a write that has succeeded; returned once.
    func takeWarning() -> PrefsError?

    /// Drops what is cached.
    func forget()

    /// Subscribes to each commit that changes the root, in order.
    ///
    /// - Parameters:
    ///   - keys: those that the subscriber asks for, which may not exist yet. It may receive changes of other keys, too.
    ///   - known: what the subscriber knows of it from elsewhere; it receives the difference first.
    func subscribe(
        to root: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription

    /// The layers around the roots, which the class puts there; nil if there are none. During an update, those of its beginning.
    var layers: LayersSnapshot? { get }

    /// Rolls back the update in progress on this thread, if any, because a write in it was rejected before it reached the store.
    func refuse(_ error: PrefsError, root: String)
}

extension RootStore {
    func knownRevision(of root: String) -> Revision? { nil }
    var layers: LayersSnapshot? { nil }

    func snapshotForWriting(of root: String) throws -> RootSnapshot { try snapshot(of: root) }
}

/// A store of this package: a public face of a `DomainStore`.
protocol DomainBackedStore: PrefsStore {
    var domainStore: DomainStore { get }
}

extension PrefsStore {
    var rootStore: any RootStore {
        (self as? any DomainBackedStore)?.domainStore ?? (self as? LayeredStore)?.layered ?? StoreAdapter(self)
    }
}
