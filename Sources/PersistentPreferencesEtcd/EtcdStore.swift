public import Foundation
public import PersistentPreferences
import PrefsPropertyLists

/// A store that keeps its roots in etcd, for programs on many machines that share their preferences.
///
/// ```swift
/// let store = EtcdStore(endpoints: [URL(string: "http://127.0.0.1:2379")!], prefix: "fleet/")
/// let prefs = EditorPrefs(store: store)
/// ```
///
/// The article "A fleet" shows how to set it up, and what it guarantees.
///
/// ## Behavior
/// Each root is one key of etcd, `PREFIXr/ROOT`, whose value is the JSON of ``ExportFormat/json``. An update takes a lock of the cluster,
/// runs its body once, and commits all roots that it changed in one transaction of etcd. Nothing that was acknowledged is lost, and nothing
/// is applied twice, whichever servers, clients and connections fail. Updates that the threads of a process make at the same time are
/// committed together. Two stores with the same endpoints, prefix and user share everything.
///
/// Reads are ``ReadMode/followed`` by default: they come from a copy in memory, which one watch keeps up to date. They always contain what
/// this process has written. With ``ReadMode/current``, each read asks the cluster, and returns the newest committed state.
///
/// ## Performance
/// A followed read costs no request, and a current one a round trip. An update costs two round trips, and a write to the disks of a
/// majority. One connection follows the prefix, and the memory holds a copy of all of its roots.
///
/// ## Errors
/// An `https` endpoint, or one that is not a URL of a server, makes each access throw ``PrefsError/invalidName(name:reason:)``. A cluster
/// that cannot be reached, has no leader or rejects the user makes updates throw ``PrefsError/notStored(_:)`` and current reads
/// ``PrefsError/unreadable(_:)``, at the latest after ``Options/deadline``. Followed reads go on with the last known state; see
/// ``staleness``. ``PrefsError/outcomeUnknown(_:)`` means that the cluster did not say whether it has committed an update. A root
/// whose value is not JSON is unreadable, and stays as it is. An update may write 1 MiB of JSON; more throws
/// ``PrefsError/valuesNotPlistCompatible(invalidElements:)`` before anything is sent. An update may also throw `notStored` after its
/// body has run, if another client has changed its roots without the lock.
///
/// ## Threads
/// Any thread. A current read and an update block their thread, so in async code call them from a thread or a queue of your own. After
/// `fork`, parent and child may use it; the child is another client.
public final class EtcdStore: PrefsStore {
    /// How a store reads.
    public enum ReadMode: Sendable, Hashable {
        /// From memory. While the cluster can be reached, a read misses no change that is older than ``Options/staleness``; usually it
        /// misses none that is older than a few milliseconds.
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
        /// The longest time that a read, or each of the two requests of an update, waits for an answer or for the lock. 10 seconds by
        /// default, and at least a tenth of a second.
        public var deadline: Duration
        /// The longest time that a silent server goes unnoticed by followed reads. 10 seconds by default, and at least a second. Four
        /// times in it, the store asks the cluster for its newest transaction.
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

    private let reads: ReadMode
    let place: Result<EtcdPlace, PrefsError>

    /// Creates a store. Sends nothing; the first access connects.
    ///
    /// - Parameters:
    ///   - endpoints: the client URLs of the servers, such as `http://10.0.0.1:2379`. If one fails, the next is used.
    ///   - prefix: what the keys of the store begin with. Other programs must not write below it.
    ///   - options: how to use the cluster.
    public init(endpoints: [URL], prefix: String = "prefs/", options: Options = Options()) {
        reads = options.reads
        do throws(PrefsError) {
            place = .success(try EtcdPlaces.place(endpoints, prefix, options))
        } catch {
            place = .failure(error)
        }
    }

    /// Creates a store from one URL: `etcd://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]…[/PREFIX]`. The prefix is `prefs/` if the URL has
    /// none. User and password replace those of the options.
    ///
    /// - Throws: ``PrefsError/invalidName(name:reason:)``.
    public convenience init(url text: String, options: Options = Options()) throws(PrefsError) {
        let url = try EtcdURL(text)
        var options = options
        if let user = url.user { (options.user, options.password) = (user, url.password) }
        self.init(endpoints: url.endpoints, prefix: url.prefix, options: options)
        _ = try place.get()
    }

    /// The age of what a read returns: the time since the copy in memory was last known to have every change. Zero for
    /// ``ReadMode/current``; nil if nothing was read yet. Any thread.
    public var staleness: Duration? {
        reads == .current ? .zero : (try? place.get())?.watch.age
    }

    /// Returns the dictionary under a root key, or nil if there is none. See ``ReadMode``.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/unreadable(_:)`` if the cluster cannot be reached.
    public func read(root: String) throws -> [String: Any]? {
        try NameVetting.checkRoot(root)
        let place = try place.get()
        return try reads == .current ? place.current(root) : place.followed(root)
    }

    /// Changes a root in one transaction, on the calling thread. See ``PrefsStore/update(root:_:)``.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try NameVetting.checkRoot(root)
        try place.get().update(root, body)
    }

    /// Calls the closure after each commit that changes the root, in any process, on a queue of its own. See
    /// ``PrefsStore/observe(root:_:)``. Commits of others may be merged while the connection is lost.
    ///
    /// - Throws: ``PrefsError/notWatched(_:)`` if the cluster cannot be reached.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try NameVetting.checkRoot(root)
        return try place.get().observe(root, action)
    }
}
