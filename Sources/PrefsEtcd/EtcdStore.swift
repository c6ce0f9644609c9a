public import Foundation
public import PersistentPreferences

/// A store that keeps its roots in etcd, for programs on many machines that share their preferences.
///
/// ```swift
/// import PrefsEtcd
///
/// let fleet = EtcdStore(endpoints: [URL(string: "http://127.0.0.1:2379")!], prefix: "fleet/")
/// let prefs = EditorPrefs(store: fleet.store)
/// print(fleet.staleness ?? .zero)
/// ```
///
/// A class that needs no more than a store names it as `.etcd(…)`: ``PrefsStore/etcd(endpoints:prefix:options:lastKnown:)``.
///
/// The article "A fleet" of `PersistentPreferences` shows how to set it up, and states all guarantees and limits.
///
/// ## Behavior
/// Each root is one key of etcd, `PREFIXr/ROOT`, whose value is the JSON of ``ExportFormat/json``. An assignment, and every other change
/// that is data, is one transaction of etcd, which is made again if another client was faster. An `update` takes the lock of its root,
/// runs its body once, and commits all roots that it changed in one transaction. Updates of a root that the threads of a process make at
/// the same time are committed together.
///
/// An update locks each root that it accesses. It waits for a further root only if that root's name is after the names of those that it
/// has locked. If it is before, and another update has the lock, also one of this process, the update throws ``PrefsError/busy(_:)``: see
/// ``update(root:alsoLocking:_:)``.
///
/// Reads are ``ReadMode/followed`` by default: they come from a copy in memory, which one watch keeps up to date. With
/// ``ReadMode/current``, each read asks the cluster.
///
/// The stores of a process share their copy, their locks and their connections if they have the same endpoints, prefix and options; only
/// the option `reads` may differ. A followed read always contains what these stores have written. Other stores are like other processes.
///
/// ## Performance
/// A followed read costs no request, and a current one a round trip. An assignment is one transaction of etcd, and an update two; each
/// waits for a majority of the servers to flush. So does each lease that the first of them takes. One connection follows the roots that
/// are used, and the memory holds a copy of them. If more than eight roots are used, it is one of all roots of the prefix.
///
/// ## Errors
/// An `https` endpoint, one that is not a URL of a server, a port outside of 1 to 65535, or an invalid prefix makes each access throw
/// ``PrefsError/invalidName(name:reason:)``. A cluster that cannot be reached, has no leader or rejects the user makes updates throw
/// ``PrefsError/notStored(_:)`` and current reads ``PrefsError/unreadable(_:)``, after the option `deadline` at the latest. Followed
/// reads continue with the last known state; they throw `unreadable` if there is none. ``PrefsError/outcomeUnknown(_:)`` means that the
/// cluster did not say, within another deadline, whether it has committed an update. An update may also throw `notStored` after its body has run,
/// if another client has changed its roots without the lock, or if the body took so long that the lock was lost.
///
/// A root whose value is not JSON is unreadable, also for updates, and is kept. An update that writes too much JSON throws
/// ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and one that accesses too many roots throws `notStored`; the article has
/// the limits.
///
/// ## Threads
/// Any thread. These block their thread, so in async code call them from a thread or a queue of your own: a current read, an update, the
/// start of an observation, the creation of the first instance, and a followed read of a root that was not read in the last ten minutes.
/// While the cluster is down, the first followed read waits for the option `deadline`, and later ones fail at once. After `fork`, parent and
/// child may read and write, if the parent has done so before and is doing nothing else at that moment; the child is another client, and
/// cannot observe. Its connection has a thread, and with several threads a child may hang in the runtime of Swift: see the article "Running
/// as a service".
public struct EtcdStore: Sendable, HidesValues {
    /// How a store reads.
    public enum ReadMode: Sendable, Hashable {
        /// From memory. Returns every change older than the option `staleness`, while at most one server fails at a time; usually only
        /// the last few milliseconds are missing.
        case followed
        /// From the cluster. A read returns the newest committed state.
        case current
    }

    /// How a store uses the cluster. A value type; may be passed between threads.
    public struct Options: Sendable, Hashable, HidesValues {
        let reads: ReadMode
        var user: String?
        var password: String
        let deadline: Duration
        let staleness: Duration

        /// Creates options.
        ///
        /// - Parameters:
        ///   - reads: how to read.
        ///   - user: the name of the user, if the cluster asks for one.
        ///   - password: the password of the user. `print` and `dump` of the options do not show it.
        ///   - deadline: the longest time that a read waits for an answer, and that an update waits before its body: for its turn, and for
        ///     the lock and the state that it starts from. At least a tenth of a second. The first update waits as long again for each
        ///     lease. After its body, an update waits as long again for the outcome of its commit. The start of an observation may wait
        ///     twice: for the first state, and for the latest write. The bodies of other threads that are committed together take their
        ///     own time. An update whose body takes longer than this loses its lock within 7 seconds. An update waits for its lock for
        ///     three quarters of it, and longer by what the cluster adds to the 5 seconds of a lock ticket. If that is less than about 8
        ///     seconds, the election of a leader and the end of a ticket, updates may fail after another program has died inside of one.
        ///   - staleness: the longest time that a silent server goes unnoticed by followed reads. At least a second. Four times in it, the
        ///     store asks the cluster for the newest changes. When the store reads all roots that it follows, which is at first and after
        ///     failures, a server has to send them within it.
        public init(
            reads: ReadMode = .followed, user: String? = nil, password: String = "", deadline: Duration = .seconds(15),
            staleness: Duration = .seconds(10)
        ) {
            (self.reads, self.user, self.password) = (reads, user, password)
            (self.deadline, self.staleness) = (deadline, staleness)
        }

        package var shownParts: KeyValuePairs<String, Any> {
            ["reads": reads, "user": user as Any, "deadline": deadline, "staleness": staleness]
        }
    }

    let reads: ReadMode
    private let shared: Result<PerProcess<EtcdNamespace>, PrefsError>
    /// The store for instances, and for single roots.
    public let store: PrefsStore

    package var shownParts: KeyValuePairs<String, Any> { ["reads": reads] }

    /// What the stores of this process with the same settings share.
    var namespace: EtcdNamespace {
        get throws(PrefsError) { try shared.get().value }
    }

    /// Creates a store. Sends nothing; the first access connects.
    ///
    /// - Parameters:
    ///   - endpoints: the client URLs of the servers, such as `http://10.0.0.1:2379`. The first to be used is chosen at random. If one
    ///     fails, the next is used.
    ///   - prefix: what the keys of the store begin with, usually with a slash at its end: `workers` alone makes keys such as `workersr/A`.
    ///     Other programs may change only `PREFIXr/…`. A prefix with the word `r/`, or whose last word is `l/` or `m/`, is invalid.
    ///   - options: how to use the cluster.
    ///   - lastKnown: a file for the roots that this process has followed, or nil. It is saved when they have changed, and at the latest
    ///     when the store is released or the program ends. A later process that starts while the cluster is down reads them, with
    ///     ``PrefsError/unreadable(_:)`` in `lastError`. Each process needs a file of its own.
    public init(endpoints: [URL], prefix: String = "prefs/", options: Options = Options(), lastKnown: URL? = nil) {
        reads = options.reads
        do throws(PrefsError) {
            let namespace = try EtcdNamespaces.namespace(
                endpoints, prefix, options.user.map { .init(name: $0, password: options.password) },
                deadline: options.deadline, staleness: options.staleness, lastKnown: lastKnown)
            shared = .success(namespace)
            store = PrefsStore(EtcdRoots(namespace, options.reads).roots)
        } catch {
            shared = .failure(error)
            store = PrefsStore(Roots(unreachable: error))
        }
    }

    /// Creates a store from one URL: `etcd://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]…[/PREFIX]`. The prefix is `prefs/` if the URL has
    /// none. A slash is added to a prefix that does not end with one. User and password replace those of the options. Write `/` in them as
    /// `%2F`, and `@` in them and in the prefix as `%40` (RFC 3986, percent-encoding).
    ///
    /// - Throws: ``PrefsError/invalidName(name:reason:)``.
    public init(
        url text: String, options: Options = Options(), lastKnown: URL? = nil
    ) throws(PrefsError) {
        let url = try EtcdURL(text)
        var options = options
        if let user = url.user { (options.user, options.password) = (user, url.password) }
        self.init(endpoints: url.endpoints, prefix: url.prefix, options: options, lastKnown: lastKnown)
        _ = try shared.get()
    }

    /// The age of what a read returns: the time since the copy in memory was last known to have every change. Zero for
    /// ``ReadMode/current``; nil if nothing was read yet. Any thread.
    public var staleness: Duration? {
        reads == .current ? .zero : (try? namespace)?.watch.age
    }

    /// Returns the newest committed dictionary under a root key, or nil if there is none. Costs a round trip.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/unreadable(_:)`` if the cluster cannot be reached.
    package func current(root: String) throws -> [String: Any]? {
        try EtcdRoots(shared.get(), .current).roots.read(root: root)
    }

    /// Returns the newest readable state of a root that this process knows. nil if the root was missing, or if nothing is known. Sends nothing.
    package func lastKnown(root: String) -> [String: Any]? {
        (try? namespace)?.watch.state.withLock { $0.lastGood(root) }?.objects
    }

    /// Changes a root in one transaction, as ``PrefsStore/update(root:_:)`` of the ``store`` does, that locks other roots, too, before the
    /// body runs. An update that accesses several roots then waits for all of them, in whatever order.
    ///
    /// ```swift
    /// try fleet.update(root: "Queue", alsoLocking: ["Jobs"]) { queue in
    ///     try fleet.store.update(root: "Jobs") { jobs in … }
    /// }
    /// ```
    ///
    /// Costs a transaction of etcd for each root, and one for the commit. Inside another update, which has its locks, the list has no effect.
    ///
    /// - Throws: as ``PrefsStore/update(root:_:)``.
    public func update(
        root: String, alsoLocking roots: [String] = [], _ body: (inout [String: Any]?) throws -> Void
    ) throws {
        if roots.isEmpty { return try store.roots.update(root: root, body) }
        for root in roots { try NameVetting.checkRoot(root) }
        try EtcdRoots(shared.get(), reads, alsoLocking: roots).roots.update(root: root, body)
    }
}

extension PrefsStore {
    /// Creates a store in etcd, for programs on many machines. Sends nothing; the first access connects. ``EtcdStore``
    /// describes it and its parameters.
    public static func etcd(
        endpoints: [URL], prefix: String = "prefs/", options: EtcdStore.Options = .init(), lastKnown: URL? = nil
    ) -> PrefsStore {
        EtcdStore(endpoints: endpoints, prefix: prefix, options: options, lastKnown: lastKnown).store
    }

    /// Creates a store in etcd from one URL, such as `etcd://10.0.0.1:2379/fleet/`, which
    /// ``EtcdStore/init(url:options:lastKnown:)`` describes.
    ///
    /// - Throws: ``PrefsError/invalidName(name:reason:)``.
    public static func etcd(
        url: String, options: EtcdStore.Options = .init(), lastKnown: URL? = nil
    ) throws(PrefsError) -> PrefsStore {
        try EtcdStore(url: url, options: options, lastKnown: lastKnown).store
    }
}

/// The roots of a store, as the base class uses them.
private final class EtcdRoots: RemoteRoots {
    private let shared: PerProcess<EtcdNamespace>
    private let reads: EtcdStore.ReadMode
    /// The roots that each update locks besides.
    private let others: [String]

    init(_ shared: PerProcess<EtcdNamespace>, _ reads: EtcdStore.ReadMode, alsoLocking others: [String] = []) {
        (self.shared, self.reads, self.others) = (shared, reads, others)
    }

    var roots: Roots { Roots(RemoteDomain(self), durability: .process) }

    var updates: RemoteUpdates { shared.value.updates }

    func values(of root: String, isNewest: Bool) throws -> RootValues? {
        try isNewest || reads == .current ? shared.value.current(root) : shared.value.followed(root)
    }

    func names() throws -> [String] { try shared.value.names() }
    func lastWriter(of root: String) -> String? { shared.value.lastWriter(of: root) }

    func lastKnown(_ root: String) -> RootValues? { shared.value.watch.state.withLock { $0.lastGood(root) } }

    func update(_ root: String, mayRepeat: Bool, _ member: RemoteMember) throws {
        try mayRepeat ? shared.value.change(root, member) : shared.value.update(root, alsoLocking: others, member)
    }

    func observe(_ root: String, _ observer: RemoteObserver) throws -> PrefsObservation {
        try shared.value.observe(root, keeping: shared, observer)
    }
}
