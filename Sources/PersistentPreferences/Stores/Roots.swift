package import Foundation
import PrefsFileEngine
package import PrefsPropertyLists

/// Returns the value of a key, given the stored value and the whole domain: the stored value, unless other code has set
/// another one.
package typealias NewestEntry =
    @Sendable (_ key: String, _ stored: StoredValue?, _ content: [String: StoredValue]?) -> StoredValue?

/// Records the accesses to the default domain.
package protocol DefaultDomainRecorder: AnyObject, Sendable {
    func noteDefaultDomain()
}

/// The roots of a domain, with the layers around them. Each store holds one.
package final class Roots: LayeredDomain {
    package let layout: DomainLayout
    /// The layers around the domain; nil without layers.
    package let layers: (any RootLayers)?
    /// nil if the domain cannot be reached.
    package let domain: (any Domain)?
    /// Why the domain cannot be reached: its name is bad, for example.
    package let failure: PrefsError?
    /// The durability of writes.
    let durability: CommitDurability
    /// The threads of the store's asynchronous writes.
    let callThreads = WorkerThreads()
    /// Finds values that other code has set on `UserDefaults` and not synchronized; nil if the domain itself knows them.
    package let newest: NewestEntry?
    /// The roots without layers; nil if these have none.
    private let unlayered: Roots?
    /// Records every access. nil unless this is the default domain in a test program.
    private let recorder: (any DefaultDomainRecorder)?
    /// The last revision of domain and layers together.
    private let combined = Locked<(base: Revision, layers: Revision, both: Revision)?>(nil)

    package init(
        _ domain: any Domain, layout: DomainLayout = .roots, durability: CommitDurability = .powerCut,
        newest: NewestEntry? = nil, recordedBy recorder: (any DefaultDomainRecorder)? = nil
    ) {
        (self.domain, failure, layers, self.newest, unlayered) = (domain, nil, nil, newest, nil)
        (self.layout, self.durability, self.recorder) = (layout, durability, recorder)
    }

    /// Creates roots that cannot be reached. Every access fails.
    package init(unreachable failure: PrefsError, layout: DomainLayout = .roots) {
        (domain, self.failure, layers, newest, unlayered) = (nil, failure, nil, nil, nil)
        (self.layout, durability, recorder) = (layout, .process, nil)
    }

    /// Creates the roots of a base with layers around them.
    package init(_ base: Roots, in layers: any RootLayers) {
        (domain, failure, self.layers, newest, unlayered) = (base.domain, base.failure, layers, nil, base)
        (layout, durability, recorder) = (base.layout, base.durability, base.recorder)
    }

    /// Creates one root that has the entries of a domain, in a domain that shows them.
    package init(entriesOf roots: Roots, in domain: (any Domain) -> any Domain) {
        (self.domain, failure, layers, newest, unlayered) = (roots.domain.map(domain), roots.failure, nil, nil, nil)
        (layout, durability, recorder) = (.flat, roots.durability, roots.recorder)
    }

    /// The roots without layers.
    package var base: Roots { unlayered ?? self }

    /// The object that keeps the roots. Two `Roots` with one place have the same roots. Files are told apart by
    /// `fileURL`, too, and the source of one changes when the file is replaced.
    var place: AnyObject { domain as? FileLocation ?? domain?.source ?? self }

    /// The URL of the file; nil if the domain is not a file of this package.
    package var fileURL: URL? {
        (domain as? FileLocation).map { URL(filePath: $0.path, directoryHint: .notDirectory) }
    }

    /// The accepted form of the values that subscribers receive, which people may have written.
    package var form: ValueForm { domain?.format.form ?? .exact }

    /// Whether the values that subscribers receive are as properties store them.
    var hasExactValues: Bool { form == .exact }

    /// Whether the values may be nulls.
    package var hasNulls: Bool { form.hasOwnNull }

    /// Whether the domain has roots and no other entries.
    package var hasOnlyRoots: Bool { domain?.hasOnlyRoots == true }

    /// The names of the roots, sorted; nil if the domain does not list them. Costs a request or more.
    package func rootNames() throws -> [String]? { try requiredDomain().rootNames() }

    /// The host, program and process that have made the newest change of a root; nil if nobody knows.
    package func lastWriter(of root: String) -> String? { domain?.lastWriter(of: root) }

    /// - Throws: why the domain cannot be reached.
    package func requiredDomain() throws(PrefsError) -> any Domain {
        recorder?.noteDefaultDomain()
        guard let domain else { throw failure ?? .unknownError(error: nil) }
        return domain
    }

    /// Whether another program is saving the domain, so that reads return its last known state.
    var isBeingSaved: Bool { domain?.isBeingSaved ?? false }

    // MARK: - One access

    package func state(of part: DomainPart, isForWriting: Bool = false) throws -> DomainState {
        let domain = try requiredDomain()
        return isForWriting
            ? try domain.state(of: part, isForWriting: true) : try ReadContext.state(of: part, in: domain)
    }

    /// The revision of domain and layers; see `Domain.revision`.
    func revision(of root: String) -> Revision? {
        recorder?.noteDefaultDomain()
        guard let base = domain?.revision else { return nil }
        guard let layers = layers?.current() else { return base }
        return layers.faults(of: root).isEmpty ? revision(base, in: layers) : nil
    }

    /// The revision of a state of the domain between layers.
    func revision(_ base: Revision?, in layers: (any RootLayersSnapshot)?) -> Revision? {
        guard let layers else { return base }
        guard let base, let revision = layers.revision else { return nil }
        return combined.withLock { combined in
            if let combined, combined.base == base, combined.layers == revision { return combined.both }
            let new = Revision()
            combined = (base, revision, new)
            return new
        }
    }

    /// The layers that an access sees. In a transaction, they are the layers of its first access; in a read of several
    /// values, the layers of its beginning.
    ///
    /// - Parameter mayBeInside: whether the access may be inside a transaction of this thread.
    package func currentLayers(mayBeInside: Bool = true) -> (any RootLayersSnapshot)? {
        guard let layers else { return nil }
        if let kept = ReadContext.current?.layers(of: layers) { return kept }
        guard mayBeInside, let transaction = domain?.transaction else { return layers.current() }
        return transaction.state(of: layers) { layers.current() } as? any RootLayersSnapshot
    }

    /// As `Domain.transact`, for an update.
    package func transact(on root: String, _ body: (Transaction) throws -> Void) throws {
        try requiredDomain().transact(on: root, durability: durability) { transaction in
            transaction.isUpdate = true
            try body(transaction)
        }
    }

    /// Runs the body, in which writes also replace a file that a person has left malformed.
    func replacingMistakes<R>(_ body: () throws -> R) throws -> R {
        try (domain as? FileLocation)?.replacingMalformedFile(body) ?? body()
    }

    package func takeWarning() -> PrefsError? {
        (domain?.takeWarning()).map { PrefsError($0) }
    }

    /// Drops the cache.
    func forget() {
        domain?.forget()
        layers?.forget()
    }

    /// Rolls back the update in progress on this thread, if any, because a write in it was rejected before it reached
    /// the domain. A write inside a read was no part of the update.
    func refuse(_ error: PrefsError, root: String) {
        if ThreadState.rejectsWrites { return }
        let first = Transaction.current?.fail(error) ?? error
        domain?.refuse(first, root: root)
    }

    /// Subscribes to each commit that changes the root, in order.
    ///
    /// - Parameter keys: the keys that the observer asks for, which may not exist yet.
    package func subscribe(to root: String, keys: [String], _ observer: EntryObserver) throws -> EntrySubscription {
        let part = layout == .flat ? DomainPart.entries(keys) : .root(root)
        guard let layers else { return try subscribe(to: part, observer) }
        return try layers.subscribe(to: part, root: root, of: self, observer)
    }

    /// Subscribes to the roots of the domain, without layers.
    package func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        try requiredDomain().subscribe(to: part, observer)
    }

    // MARK: - As a store

    /// The values of `PrefsStore.read`. Layers of text and of managed values are left out.
    func values(of root: String) throws -> [String: StoredValue]? {
        try NameVetting.checkRoot(root)
        return try PrefsError.converting {
            let state = try state(of: layout == .flat ? .everything : .root(root))
            // A warning of an earlier write does not concern this state.
            if let warning = state.warning.map({ PrefsError($0) }), !warning.isWarning { throw warning }
            let stored = try layout.dictionary(of: root, in: state.content)
            return currentLayers()?.merged(stored, root: root) ?? stored
        }
    }

    package func read(root: String) throws -> [String: Any]? {
        try values(of: root)?.objects
    }

    package func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try NameVetting.checkRoot(root)
        try updateValues(of: root) { stored in
            guard let layers = currentLayers() else { return try stored.change(body) }
            try layers.change(&stored, root: root, body)
        }
    }

    /// `PrefsStore.update` on the values of the domain, without layers.
    func updateValues(of root: String, _ body: (inout [String: StoredValue]?) throws -> Void) throws {
        try PrefsError.converting {
            try transact(on: root) { transaction in
                // From now on, accesses of this thread see one state of the layers.
                _ = currentLayers()
                try transaction.update(root: root, layout, body)
            }
        }
    }

    package func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try NameVetting.checkRoot(root)
        let hasLayers = layers != nil
        let mailbox = Mailbox(demand: Mailbox.unlimited) { change in
            guard let change = hasLayers ? change.merged(of: root) : change, !change.difference.isEmpty else {
                return nil
            }
            return {
                action(PrefsChange(root: root, change.difference, of: change))
                return 0
            }
        }
        let subscription = try PrefsError.converting {
            try subscribe(to: root, keys: [], EntryObserver(mailbox.delivery))
        }
        if let failure = subscription.failure { throw PrefsError.notWatched(failure) }
        mailbox.begin(subscription)
        return PrefsObservation(ending: { mailbox.end() })
    }
}
