import PrefsFileEngine
import PrefsPropertyLists

/// What went wrong with an access to preferences.
///
/// Nothing throws it at a user of ``PersistentPrefs``: it is found in ``PersistentPrefs/lastError``, handed to
/// ``PersistentPrefs/prefsDidFail(_:)``, and returned by `update`. Stores throw it. The first three cases and the last
/// are the seed's (`RVS_PersistentPrefs.PrefsError`).
///
/// Unless a case says otherwise, an error means that nothing changed, in memory or on disk. No case and no text of an
/// error holds a stored value. Safe to pass between threads.
public indirect enum PrefsError: Error, Sendable {
    /// Keys that are not in ``PersistentPrefs/keys``, sorted. Seed: the same.
    case incorrectKeys(invalidElements: [String])
    /// Top-level keys, sorted, under which something stands that a property list cannot hold. ``failures`` gives path
    /// and reason of each offender. Seed: the same.
    case valuesNotPlistCompatible(invalidElements: [String])
    /// ``PersistentPrefs/flush()`` found nothing stored under the root key. Seed: the same.
    case noStoredPrefsForKey(key: String)
    /// A root key, a suite name or a URL that cannot name anything; `reason` says why.
    case invalidName(name: String, reason: String)
    /// What is stored under the root key is no dictionary. Reads are empty and writes refused until
    /// ``PersistentPrefs/deleteAll()``; the stored value stays as it is.
    case rootIsNotDictionary(key: String)
    /// The file is there and cannot be read (permission, a folder in its place, an I/O error …). It stays as it is; the
    /// next access tries again.
    case unreadable(StorageFailure)
    /// The bytes of a file that this package or `UserDefaults` has written are not a property list, or no dictionary.
    ///
    /// A read left the file as it is and returned the newest known state (``MalformedFile/state``). A write that reports this has
    /// succeeded: it quarantined the bytes (``MalformedFile/quarantinedAs``) and is stored on top of that state; see ``isWarning``.
    case damaged(MalformedFile)
    /// The bytes of the file are not a property list, or no dictionary, and this package has never written the file: there is no
    /// last good copy beside it. Reads return what this process last read from it, if anything; writes are rejected.
    case notOurs(MalformedFile)
    /// The new state could not be stored; the old one stands, and the next write tries again.
    case notStored(StorageFailure)
    /// The new state is stored, but the domain of `UserDefaults` is near the size that tvOS and watchOS allow; beyond it, writes
    /// are rejected. A warning, on these systems only; see ``isWarning``. Sizes are in bytes.
    case nearSizeLimit(bytes: Int, limit: Int)
    /// The new state is stored, in memory and on disk, but the system did not confirm that it survives a power cut.
    case durabilityUnconfirmed(StorageFailure)
    /// What is stored under a declared property's key is not of its type. The default was read, and what is stored is
    /// kept.
    case typeMismatch(PropertyListFailure)
    /// Values that break the constraints of declared properties, sorted by path. A write of them was refused, whole; of a
    /// stored one the default was read, and it is kept.
    case constraintViolated([PropertyListFailure])
    /// A step of ``PersistentPrefs/migrations`` could not bring the root to its version: the step threw `error`, or
    /// made what cannot be stored. The data is as it was; reads are empty and writes refused.
    case migrationFailed(key: String, version: Int, error: any Error)
    /// What ``PersistentPrefs/import(_:merge:)`` was given cannot be read as the values of a root. `reason` says why, and
    /// where: a line and a column, a path.
    case invalidImport(reason: String)
    /// Changes that other processes make are not heard, because the system does not watch the file, its limit of watches
    /// being reached, say. Those of this process are.
    case notWatched(StorageFailure)
    /// A write to one store inside an `update` of another: the two could not be committed together.
    case updateOfAnotherStore
    /// An error from elsewhere: thrown by the body of an `update` or by a store outside this package. Seed: the same.
    case unknownError(error: (any Error)?)
}

extension PrefsError {
    /// True if the access that reports this error has succeeded: a write is stored, but it quarantined a damaged file, or its
    /// domain is near the size limit.
    ///
    /// Such a warning is told through ``PersistentPrefs/lastError`` and ``PersistentPrefs/prefsDidFail(_:)``, and is not returned
    /// by `update`, `import` and the like. Cost: none.
    public var isWarning: Bool {
        switch self {
        case .damaged(let file): file.quarantinedAs != nil
        case .nearSizeLimit: true
        default: false
        }
    }

    var isMalformedFile: Bool {
        switch self {
        case .damaged, .notOurs: true
        default: false
        }
    }

    /// Each offender of a ``valuesNotPlistCompatible(invalidElements:)``, a ``constraintViolated(_:)`` or a
    /// ``typeMismatch(_:)`` with its path and the reason, sorted by path; empty for other errors.
    ///
    /// Of the first, paths and reasons are kept for the 64 newest errors of the process; of an older one, or one made by
    /// hand, the keys are given with a general reason. Cost: linear in the number of offenders. Any thread.
    public var failures: [PropertyListFailure] {
        switch self {
        case .valuesNotPlistCompatible(let keys):
            FailureReports.shared.failures(of: keys)
                ?? keys.map {
                    PropertyListFailure(path: $0, topLevelKey: $0, reason: "cannot be stored in a property list")
                }
        case .constraintViolated(let failures): failures
        case .typeMismatch(let failure): [failure]
        default: []
        }
    }

    /// The error that carries these failures.
    static func valuesNotPlistCompatible(_ failures: [PropertyListFailure]) -> PrefsError {
        let keys = Set(failures.map(\.topLevelKey)).sorted()
        FailureReports.shared.add(failures.sorted { $0.path < $1.path }, to: keys)
        return .valuesNotPlistCompatible(invalidElements: keys)
    }

    /// An error of any kind as one of ours.
    init(_ error: any Error) {
        self = error as? PrefsError ?? .unknownError(error: error)
    }
}

/// The paths and reasons behind the newest `valuesNotPlistCompatible` errors.
///
/// The payload of that case is fixed to the seed's `[String]`, so the rest is found by the identity of that array's
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
