import PrefsFileEngine
import PrefsPropertyLists

/// An error of an access to preferences.
///
/// ```swift
/// prefs.fontSize = 14
/// if case .notStored(let failure)? = prefs.lastError { print(failure) }
///
/// if let error = prefs.update({ prefs.fontSize += 1 }) { print(error) }
/// ```
///
/// ``PersistentPrefs`` does not throw it. ``PersistentPrefs/lastError`` contains it, ``PersistentPrefs/prefsDidFail(_:)``
/// receives it, and `update` returns it. A ``PrefsStore`` throws it. The first three cases and the last two are those of
/// `RVS_PersistentPrefs.PrefsError`.
///
/// ## Behavior
/// Nothing has changed, in memory or on disk, unless a case says otherwise. No error of this package quotes a stored value.
/// ``invalidLayer(_:)`` quotes a text of the arguments or the environment, shortened to 40 characters. ``constraintViolated(_:)``,
/// ``migrationFailed(key:version:error:)`` and ``unknownError(error:)`` pass on what your own checks and closures, a store or a server say.
///
/// ## Threads
/// May be passed between threads.
public indirect enum PrefsError: Error, Sendable {
    /// Keys that ``PersistentPrefs/keys`` does not contain, sorted. As in RVS_PersistentPrefs; here also for a read of such a key.
    case incorrectKeys(invalidElements: [String])
    /// The top-level keys of values that a property list cannot hold, sorted. ``failures`` gives the path and the reason of each.
    /// As in RVS_PersistentPrefs.
    case valuesNotPlistCompatible(invalidElements: [String])
    /// ``PersistentPrefs/flush()`` found nothing stored under the root key. In RVS_PersistentPrefs, some versions report it for reads, too,
    /// and version 1.7 never does.
    case noStoredPrefsForKey(key: String)
    /// An invalid root key, suite name or URL; `reason` says why.
    case invalidName(name: String, reason: String)
    /// The value stored under the root key is not a dictionary. Reads are empty and writes are rejected until
    /// ``PersistentPrefs/deleteAll()``. The stored value stays. Version 1.7 of RVS_PersistentPrefs calls it `invalidStoredValue`.
    case rootIsNotDictionary(key: String)
    /// The file exists and cannot be read (missing permission, a folder with its name, an I/O error …). The file stays. The next
    /// access tries again.
    case unreadable(StorageFailure)
    /// The bytes of a file that this package or `UserDefaults` has written are not a property list with a dictionary at the top.
    ///
    /// A read leaves the file alone. It returns the last state that this package stored or, in a running program, the newest that the
    /// program has read or written (``MalformedFile/state``). The next write reports ``quarantined(_:)``.
    case damaged(MalformedFile)
    /// A warning (``isWarning``): the write succeeded. It quarantined a damaged file and stored its known state with the change; or it found
    /// no file, quarantined the last good copy, and stored only the change. ``MalformedFile/quarantinedAs`` is the path.
    case quarantined(MalformedFile)
    /// The bytes of the file are not a property list with a dictionary at the top, and there is no last good copy, so this package
    /// has not written the file. Reads return what this process last read from it, if anything. Writes are rejected.
    case notOurs(MalformedFile)
    /// The new state could not be stored. The old state remains. The next write tries again.
    case notStored(StorageFailure)
    /// The `timeout` passed while another process held the lock, or while another thread was updating. The body has not run. On Linux, the
    /// failure names the process that holds the lock.
    case busy(StorageFailure)
    /// Nobody knows whether the new state is stored: the servers of a store on other machines have not answered in time. A read
    /// after the next update shows it. Repeat the update only if it may be done twice.
    case outcomeUnknown(StorageFailure)
    /// The new state is stored, but the domain of `UserDefaults` is near the limit of tvOS and watchOS, beyond which writes are
    /// rejected. A warning on these systems; see ``isWarning``. Sizes are in bytes.
    case nearSizeLimit(bytes: Int, limit: Int)
    /// The new state is stored, in memory and on disk, but an older one may return: after a power cut, because the system did not confirm
    /// a flush; or if the file is damaged, because the last good copy could be neither replaced nor removed. The failure tells which.
    case durabilityUnconfirmed(StorageFailure)
    /// Values whose type differs from their property's, sorted by path. A write was rejected as a whole; the failures then include violated
    /// constraints of other values. A read returned the default, and the stored value is kept.
    case typeMismatch([PropertyListFailure])
    /// Values that violate the constraints of their properties, sorted by path. A write was rejected as a whole. A read returned the
    /// default, and the stored value is kept.
    case constraintViolated([PropertyListFailure])
    /// A step of ``PersistentPrefs/migrations`` failed: it threw `error`, or a property list cannot hold its result. The data is
    /// unchanged. Reads are empty and writes are rejected.
    case migrationFailed(key: String, version: Int, error: any Error)
    /// The data for ``PersistentPrefs/import(_:merge:)`` cannot be read as the values of a root. `reason` contains a line and a
    /// column, or a path.
    case invalidImport(reason: String)
    /// The system cannot watch the file, for example because its limit of watches is reached. Observers are told of the changes of
    /// this process, but not of those of other processes.
    case notWatched(StorageFailure)
    /// Two classes use one root, and they have the same name or declare a key with different types. Reported once, by the first
    /// instance of the second class. A warning: the instance works. Give one of the classes a root key of its own.
    case sharedRoot(SharedRoot)
    /// A write to keys that layers above the base of a ``LayeredStore`` set. The write was rejected as a whole. Sorted by key.
    case coveredByLayer([CoveredKey])
    /// Layers of a ``LayeredStore`` that cannot be read, or entries that do not fit their properties. They were ignored. A warning: the
    /// access succeeded with the rest.
    case invalidLayer([LayerFault])
    /// A write to one store inside an `update` of another store: the two cannot be committed together.
    case updateOfAnotherStore
    /// A subclass of `RVS_PersistentPrefs` has no `userDefaults`. Reads are empty and writes are rejected. As in its version 1.7.
    case userDefaultsUnavailable
    /// An error that the body of an `update`, or a store outside this package, has thrown. RVS_PersistentPrefs has the case, too.
    case unknownError(error: (any Error)?)
}

extension PrefsError {
    /// Whether the access that reports this error has succeeded: a write that quarantined a damaged file or the last good copy of a
    /// missing one, a write to a domain near the size limit, the creation of an instance whose class shares its root with another class (``sharedRoot(_:)``), or an access that
    /// ignored an entry of a layer.
    ///
    /// ``PersistentPrefs/lastError`` and ``PersistentPrefs/prefsDidFail(_:)`` report a warning. `update`, `import` and
    /// ``PrefHandle/set(_:)`` do not return it.
    public var isWarning: Bool {
        switch self {
        case .quarantined, .nearSizeLimit, .sharedRoot, .invalidLayer: true
        default: false
        }
    }

    var isMalformedFile: Bool {
        switch self {
        case .damaged, .quarantined, .notOurs: true
        default: false
        }
    }

    /// The path and the reason of each value that caused a ``valuesNotPlistCompatible(invalidElements:)``, a
    /// ``constraintViolated(_:)`` or a ``typeMismatch(_:)``, sorted by path. Empty for other errors.
    ///
    /// For `valuesNotPlistCompatible`, the process keeps the details of its 64 newest errors. An older error, or one that you
    /// create yourself, gives its keys with a general reason. Costs time linear in the number of values. Any thread.
    public var failures: [PropertyListFailure] {
        switch self {
        case .valuesNotPlistCompatible(let keys):
            FailureReports.shared.failures(of: keys)
                ?? keys.map {
                    PropertyListFailure(path: $0, topLevelKey: $0, reason: "cannot be stored in a property list")
                }
        case .typeMismatch(let failures), .constraintViolated(let failures): failures
        default: []
        }
    }

    /// The same without the paths inside of values.
    var withoutPaths: PrefsError {
        func bare(_ failures: [PropertyListFailure]) -> [PropertyListFailure] {
            failures.map { .init(path: $0.topLevelKey, topLevelKey: $0.topLevelKey, reason: $0.reason) }
        }
        switch self {
        case .typeMismatch(let failures): return .typeMismatch(bare(failures))
        case .constraintViolated(let failures): return .constraintViolated(bare(failures))
        case .valuesNotPlistCompatible: return .valuesNotPlistCompatible(bare(failures))
        default: return self
        }
    }

    /// The error that carries these failures. For your own ``PrefsStore``, for example one with a limit of its own. Costs time linear in their
    /// number. Any thread.
    public static func valuesNotPlistCompatible(_ failures: [PropertyListFailure]) -> PrefsError {
        let keys = Set(failures.map(\.topLevelKey)).sorted()
        FailureReports.shared.add(failures.sorted { $0.path < $1.path }, to: keys)
        return .valuesNotPlistCompatible(invalidElements: keys)
    }

    /// An error of any kind as one of ours.
    package init(_ error: any Error) {
        self = error as? PrefsError ?? (error as? FileError).map { PrefsError($0) } ?? .unknownError(error: error)
    }
}

/// The paths and reasons behind the newest `valuesNotPlistCompatible` errors.
///
/// The payload of that case is `[String]`, as in RVS_PersistentPrefs, so the rest is found by the identity of that array's
/// storage, which every copy of the error shares. The report holds the array as well: as long as it is here, no other
/// array can have its address.
private final class FailureReports: Sendable {
    static let shared = FailureReports()

    private let reports = Locked<[(keys: [String], failures: [PropertyListFailure])]>([])
    private static let capacity = 64

    func add(_ failures: [PropertyListFailure], to keys: [String]) {
        reports.withLock { reports in
            if reports.count == Self.capacity { reports.removeFirst() }
            reports.append((keys, failures))
        }
    }

    func failures(of keys: [String]) -> [PropertyListFailure]? {
        reports.withLock { $0.last { Self.address($0.keys) == Self.address(keys) }?.failures }
    }

    private static func address(_ keys: [String]) -> UnsafePointer<String>? {
        keys.withUnsafeBufferPointer(\.baseAddress)
    }
}
