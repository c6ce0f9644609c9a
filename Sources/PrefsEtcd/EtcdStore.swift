public import Foundation
public import PersistentPreferences

/// A store that keeps its roots in etcd, for programs on many machines that share their preferences.
///
/// ```swift
/// import PrefsEtcd
///
/// let store = EtcdStore(endpoints: [URL(string: "http://127.0.0.1:2379")!], prefix: "fleet/")
/// let prefs = EditorPrefs(store: store)
/// ```
///
/// The article "A fleet" of `PersistentPreferences` shows how to set it up, and states all guarantees and limits.
///
/// ## Behavior
/// Each root is one key of etcd, `PREFIXr/ROOT`, whose value is the JSON of ``ExportFormat/json``. An update takes a lock of the cluster,
/// runs its body once, and commits all roots that it changed in one transaction of etcd. Updates that the threads of a process make at the
/// same time are committed together.
///
/// Reads are ``ReadMode/followed`` by default: they come from a copy in memory, which one watch keeps up to date. With
/// ``ReadMode/current``, each read asks the cluster.
///
/// The stores of a process share their copy, their lock and their connections if they have the same endpoints, prefix and options; only
/// ``Options/reads`` may differ. A followed read always contains what these stores have written. Other stores are like other processes.
///
/// ## Performance
/// A followed read costs no request, and a current one a round trip. An update is two transactions of etcd; each waits for a majority of
/// the servers to flush. So does the lease that the first update takes, and the first one after 30 seconds without any. An assignment reads
/// once more. One connection follows the prefix, and the memory holds a copy of all of its roots.
///
/// ## Errors
/// An `https` endpoint, one that is not a URL of a server, or an invalid prefix makes each access throw
/// ``PrefsError/invalidName(name:reason:)``. A cluster that cannot be reached, has no leader or rejects the user makes updates throw
/// ``PrefsError/notStored(_:)`` and current reads ``PrefsError/unreadable(_:)``, after ``Options/deadline`` at the latest. Followed reads
/// continue with the last known state; they throw `unreadable` if there is none. ``PrefsError/outcomeUnknown(_:)`` means that the cluster
/// did not say, within another deadline, whether it has committed an update. An update may also throw `notStored` after its body has run,
/// if another client has changed its roots without the lock.
///
/// A root whose value is not JSON is unreadable, also for updates, and is kept. An update that writes too much JSON throws
/// ``PrefsError/valuesNotPlistCompatible(invalidElements:)``, and one that accesses too many roots throws `notStored`; the article has
/// the limits.
///
/// ## Threads
/// Any thread. A current read, an update, the first followed read, the start of an observation and the creation of the first instance block
/// their thread, so in async code call them from a thread or a queue of your own. While the cluster is down, the first followed read waits
/// for ``Options/deadline``, and later ones fail at once. After `fork`, parent and child may read and write, if the parent has done so before
/// and is doing nothing else at that moment; the child is another client, and cannot observe.
public final class EtcdStore: RemotePrefsStore {
    /// How a store reads.
    public enum ReadMode: Sendable, Hashable {
        /// From memory. Returns every change older than ``Options/staleness``, while at most one server fails at a time; usually only the
        /// last few milliseconds are missing.
        case followed
        /// From the cluster. A read returns the newest committed state.
        case current
    }

    /// How a store uses the cluster. A value type; may be passed between threads.
    public struct Options: Sendable, Hashable {
        /// How to read.
        public var reads: ReadMode
        /// The name of the user, if the cluster asks for one.
        public var user: String?
        /// The password of the user.
        public var password: String
        /// The longest time that a read waits for an answer, and that an update waits before its body: for its turn, the lock and the state
        /// that it starts from. After its body, an update waits as long again for the outcome of its commit. The start of an observation
        /// may wait twice: for the first state, and for the latest write. The bodies of other threads that are committed together take
        /// their own time. 10 seconds by default, and at least a tenth of a second. If it is below about 7 seconds, updates fail for a
        /// moment after another program has died inside of one, because its lock ticket ends after 5 seconds.
        public var deadline: Duration
        /// The longest time that a silent server goes unnoticed by followed reads. 10 seconds by default, and at least a second. Four
        /// times in it, the store asks the cluster for its newest change. When the store reads all roots of the prefix, which is at first
        /// and after failures, a server has to send them within it.
        public var staleness: Duration

        /// Creates options.
        public init(
            reads: ReadMode = .followed, user: String? = nil, password: String = "", deadline: Duration = .seconds(10),
            staleness: Duration = .seconds(10)
        ) {
            self.reads = reads
            self.user = user
            self.password = password
            self.deadline = deadline
            self.staleness = staleness
        }
    }

    let reads: ReadMode
    private let shared: Result<PerProcess<EtcdNamespace>, PrefsError>

    /// What the stores of this process with the same settings share.
    var namespace: EtcdNamespace {
        get throws(PrefsError) { try shared.get().value }
    }

    /// Creates a store. Sends nothing; the first access connects.
    ///
    /// - Parameters:
    ///   - endpoints: the client URLs of the servers, such as `http://10.0.0.1:2379`. If one fails, the next is used.
    ///   - prefix: what the keys of the store begin with, usually with a slash at its end: `workers` alone makes keys such as `workersr/A`.
    ///     Other programs may change only `PREFIXr/…`. A prefix whose last word is `r/`, `l/` or `m/` is invalid.
    ///   - options: how to use the cluster.
    public init(endpoints: [URL], prefix: String = "prefs/", options: Options = Options()) {
        reads = options.reads
        do throws(PrefsError) {
            shared = .success(try EtcdNamespaces.namespace(endpoints, prefix, options))
        } catch {
            shared = .failure(error)
        }
    }

    /// Creates a store from one URL: `etcd://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]…[/PREFIX]`. The prefix is `prefs/` if the URL has
    /// none. A slash is added to a prefix that does not end with one. User and password replace those of the options. Write `/` in them as
    /// `%2F`, and `@` in them and in the prefix as `%40` (RFC 3986, percent-encoding).
    ///
    /// - Throws: ``PrefsError/invalidName(name:reason:)``.
    public convenience init(url text: String, options: Options = Options()) throws(PrefsError) {
        let url = try EtcdURL(text)
        var options = options
        if let user = url.user { (options.user, options.password) = (user, url.password) }
        self.init(endpoints: url.endpoints, prefix: url.prefix, options: options)
        _ = try shared.get()
    }

    /// The age of what a read returns: the time since the copy in memory was last known to have every change. Zero for
    /// ``ReadMode/current``; nil if nothing was read yet. Any thread.
    public var staleness: Duration? {
        reads == .current ? .zero : (try? namespace)?.watch.age
    }

    /// Returns the dictionary under a root key, or nil if there is none. See ``ReadMode``.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/unreadable(_:)`` if the cluster cannot be reached.
    public func read(root: String) throws -> [String: Any]? {
        try PrefsError.checkRootKey(root)
        let namespace = try namespace
        return try reads == .current ? namespace.current(root) : namespace.followed(root)
    }

    /// Returns the newest committed dictionary under a root key, or nil if there is none. Costs a round trip.
    ///
    /// - Throws: as ``read(root:)``.
    public func current(root: String) throws -> [String: Any]? {
        try PrefsError.checkRootKey(root)
        return try namespace.current(root)
    }

    /// Returns the newest readable state of a root that this process knows. See ``RemotePrefsStore/lastKnown(root:)``.
    public func lastKnown(root: String) -> [String: Any]? {
        (try? namespace)?.watch.state.withLock { $0.lastGood(root) }
    }

    /// Changes a root in one transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try PrefsError.checkRootKey(root)
        try namespace.update(root, body)
    }

    /// Calls the closure after each commit that changes the root, in any process, on the threads of observers without a queue. See
    /// ``PrefsStore/observe(root:_:)``. Commits of others may be merged while the connection is lost. Blocks the thread until all roots
    /// were read once.
    ///
    /// - Throws: ``PrefsError/notWatched(_:)`` if the cluster cannot be reached.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try PrefsError.checkRootKey(root)
        return try namespace.observe(root, keeping: shared.get(), action)
    }
}
