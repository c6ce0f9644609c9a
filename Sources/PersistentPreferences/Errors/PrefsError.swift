import PrefsFileEngine
import PrefsPropertyLists

/// An error of an access to preferences.
///
/// ```swift
/// prefs.fontSize = 14
/// if case .notStored(let failure)? = prefs.lastError { print(failure) }
///
/// if case .failure(let error) = prefs.update({ prefs.fontSize += 1 }) { print(error) }
/// ```
///
/// ``PersistentPrefs`` does not throw it. ``PersistentPrefs/lastError`` contains it,
/// ``PersistentPrefs/prefsDidFail(_:)`` receives it, and `update` returns it. A ``PrefsStore`` throws it. The first
/// three cases and the last two have the names of `RVS_PersistentPrefs.PrefsError`.
///
/// ## Behavior
/// Nothing has changed, in memory or on disk, unless a case says otherwise. No error quotes a stored value.
/// ``ignoredInLayer(_:)`` quotes a text of the arguments or the environment, shortened to 40 characters.
/// ``constraintViolated(_:)``, ``migrationFailed(key:version:error:)`` and ``unknownError(error:)`` pass on the texts
/// of your checks and closures, of stores and of servers.
///
/// ## Later versions
/// A later version may add cases: a `switch` needs an `@unknown default`. Compilers before Swift 6.2.3 do not say so.
///
/// ## Threads
/// May be passed between threads.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public indirect enum PrefsError: Error, Sendable {
    /// Keys that ``PersistentPrefs/allowedKeys`` does not contain, sorted. As in RVS_PersistentPrefs, and here also for a read
    /// of such a key.
    case incorrectKeys(invalidElements: InvalidKeys)
    /// The top-level keys of values that a property list cannot hold, sorted. ``problems`` gives the path and the
    /// reason of each. As in RVS_PersistentPrefs.
    case valuesNotPlistCompatible(invalidElements: InvalidKeys)
    /// `flush()` of RVS_PersistentPrefs found nothing stored under the root key. Some versions of RVS_PersistentPrefs also
    /// report it for reads; version 1.7 never reports it.
    case noStoredPrefsForKey(key: String)
    /// An invalid root key, suite name or URL; `reason` says why.
    case invalidName(name: String, reason: String)
    /// The value stored under the root key is not a dictionary. Reads are empty and writes are rejected until
    /// ``PersistentPrefs/deleteRoot()`` or, unless the store is your own, an assignment of all
    /// ``PersistentPrefs/values``. The stored value stays until then. Version 1.7 of RVS_PersistentPrefs calls it `invalidStoredValue`.
    case rootIsNotDictionary(key: String)
    /// The file exists and cannot be read (missing permission, a folder with its name, an I/O error …). The file stays.
    /// The next access tries again.
    case unreadable(StorageFailure)
    /// The bytes of a file that this package or `UserDefaults` has written are not a property list with a dictionary at
    /// the top.
    ///
    /// A read leaves the file alone. It returns the last state that this package stored or, in a running program, the
    /// newest that the program has read or written. The next write reports
    /// ``quarantined(_:)``.
    case damaged(MalformedFile)
    /// A warning (``isWarning``): the write succeeded. It quarantined a damaged file and stored its known state with
    /// the change. Or it found no file, quarantined the last good copy, and stored only the change. Or it stored the
    /// result of a migration in which a value does not fit its property, and quarantined the unmigrated file.
    /// ``MalformedFile/quarantinedAs`` is the path.
    case quarantined(MalformedFile)
    /// The bytes of the file are not a property list with a dictionary at the top, and there is no last good copy, so
    /// this package has not written the file. Reads return what this process last read from it, if anything. Writes are
    /// rejected.
    case notOurs(MalformedFile)
    /// The new state could not be stored. The old state remains. The next write tries again.
    case notStored(StorageFailure)
    /// The `timeout` of an `update`, or ``PersistentPrefs/writeTimeout``, passed while another process held the lock, or
    /// while another thread was updating. The body has not run. On Linux, the failure names the process that holds the
    /// lock. Or an update in a remote store that locks each root has accessed a root that another client has locked, and
    /// whose name is before that of a root of the update: nothing is stored, and the failure names the client.
    case busy(StorageFailure)
    /// It is unknown whether the new state is stored, because the servers of a remote store have not answered in time.
    /// Or the rename of a file failed, and its folder does not show whether the file was renamed.
    /// A read after the next update shows the outcome. Repeat the update only if it may be done twice.
    case outcomeUnknown(StorageFailure)
    /// The new state is stored, but the domain of `UserDefaults` is near the limit of tvOS and watchOS, beyond which
    /// writes are rejected. A warning on these systems; see ``isWarning``. Sizes are in bytes.
    case nearSizeLimit(bytes: Int, limit: Int)
    /// The new state is stored, in memory and on disk, but an older state may return. Either the system did not confirm
    /// a flush, so a power cut may bring the older state back. Or the last good copy could be neither replaced nor
    /// removed, so damage to the file may. The failure tells which.
    case durabilityUnconfirmed(StorageFailure)
    /// Values whose type differs from their property's, sorted by path. A write was rejected as a whole; the problems
    /// then include violated constraints of other values. A read returned the default, and the stored value is kept.
    case typeMismatch([PrefsProblem])
    /// Values that violate the constraints of their properties, sorted by path. A write was rejected as a whole. A read
    /// returned the default, and the stored value is kept.
    case constraintViolated([PrefsProblem])
    /// The result of a write or an update violates ``PersistentPrefs/rules`` of the class, whose texts these are, and the
    /// state before did not. It was rejected as a whole.
    case ruleViolated([String])
    /// A step of ``PersistentPrefs/migrations`` failed: it threw `error`, or a property list cannot hold its result.
    /// The data is unchanged. Reads are empty and writes are rejected.
    case migrationFailed(key: String, version: Int, error: any Error)
    /// The data for ``PersistentPrefs/import(_:merge:)`` cannot be read as the values of a root. `reason` contains a
    /// line and a column, or a path.
    case invalidImport(reason: String)
    /// The system cannot watch the file, for example because its limit of watches is reached. Observers receive the
    /// changes of this process. If a system call has failed, the file is read once a second
    /// until it can be watched, so that changes of other processes come late; otherwise they do not come.
    case notWatched(StorageFailure)
    /// A write to keys that layers above the base of a layered store set. The write was rejected as a whole. Sorted
    /// by key, which is the ``PrefsProblem/topLevelKey``.
    case coveredByLayer([PrefsProblem])
    /// A warning (``isWarning``): layers of a layered store cannot be read, or entries do not fit their properties.
    /// They were ignored, and the access succeeded with the rest.
    case ignoredInLayer([PrefsProblem])
    /// A warning (``isWarning``): a problem that stands and that no access meets, such as a stored key that the class does
    /// not have. ``PersistentPrefs/problems()`` lists it, and ``PersistentPrefs/onError(_:)`` gives it.
    ///
    /// Two classes that share a root by mistake are one: they have the same name, or declare a key with different types; in
    /// a flat layout, in which all classes share one root, with different types or defaults. The first instance of the
    /// second class has it in ``PersistentPrefs/lastError``, too, and works. Give one of the classes its own root key, or
    /// in a flat layout give one of the properties another key.
    case problem(PrefsProblem)
    /// A write to one store inside an `update` of another store. The write was rejected, because the two cannot be
    /// committed together.
    case updateOfAnotherStore
    /// A write, or an `update`, inside ``PersistentPrefs/read(_:)``. The write was rejected. An `update` around the read
    /// goes on.
    case writeInsideRead
    /// A subclass of `RVS_PersistentPrefs` has no `userDefaults`. Reads are empty and writes are rejected. As in
    /// version 1.7 of RVS_PersistentPrefs.
    case userDefaultsUnavailable
    /// An error that the body of an `update`, or a store of your own, has thrown. RVS_PersistentPrefs has the
    /// case, too.
    case unknownError(error: (any Error)?)
}

extension PrefsError {
    /// True if the access that reports this error has succeeded. Warnings are a write that quarantined a damaged file
    /// or the last good copy of a missing one, a write to a domain near the size limit, the creation of an instance
    /// whose class shares its root with another class (``problem(_:)``), and an access that ignored an entry of a layer.
    ///
    /// ``PersistentPrefs/lastError`` and ``PersistentPrefs/prefsDidFail(_:)`` report a warning. The calls that
    /// return an error return the first two, because the write has stored something else than was asked for, or soon cannot.
    /// An `update` gives its result.
    public var isWarning: Bool {
        switch self {
        case .quarantined, .nearSizeLimit, .ignoredInLayer, .problem: true
        case .incorrectKeys, .valuesNotPlistCompatible, .noStoredPrefsForKey, .invalidName, .rootIsNotDictionary,
            .unreadable, .damaged, .notOurs, .notStored, .busy, .outcomeUnknown, .durabilityUnconfirmed, .typeMismatch,
            .constraintViolated, .ruleViolated, .migrationFailed, .invalidImport, .notWatched, .coveredByLayer,
            .updateOfAnotherStore, .writeInsideRead, .userDefaultsUnavailable, .unknownError:
            false
        }
    }

    /// Whether it is a warning of the write that reports it, which has succeeded.
    var isOfWrite: Bool {
        switch self {
        case .quarantined, .nearSizeLimit: true
        default: false
        }
    }

    package var isOfLayers: Bool {
        if case .ignoredInLayer = self { true } else { false }
    }

    var isMalformedFile: Bool {
        switch self {
        case .damaged, .quarantined, .notOurs: true
        default: false
        }
    }

    /// The values of a ``valuesNotPlistCompatible(invalidElements:)``, a ``constraintViolated(_:)`` or a
    /// ``typeMismatch(_:)``, sorted by path. Empty for other errors.
    package var failures: [PropertyListFailure] {
        switch self {
        case .valuesNotPlistCompatible(let keys): keys.failures
        case .typeMismatch(let values), .constraintViolated(let values): values.map(\.failure)
        default: []
        }
    }

    /// The error of values of another type than their property's.
    package static func mismatch(of failures: [PropertyListFailure]) -> PrefsError {
        .typeMismatch(failures.map(PrefsProblem.init(mismatch:)))
    }

    /// The error of values that violate the constraints of their properties.
    package static func violation(of failures: [PropertyListFailure]) -> PrefsError {
        .constraintViolated(failures.map(PrefsProblem.init(violation:)))
    }

    /// The error of one value that violates the constraint of its property.
    package static func violation(ofKey key: String, _ reason: String) -> PrefsError {
        .violation(of: [PropertyListFailure(path: key, topLevelKey: key, reason: reason)])
    }

    /// This error without the paths inside the values of secrets, such as a key of a dictionary.
    func withoutPaths(ofSecrets isSecret: (_ key: String) -> Bool) -> PrefsError {
        guard failures.contains(where: { isSecret($0.topLevelKey) }) else { return self }
        let bare = failures.map { failure in
            !isSecret(failure.topLevelKey)
                ? failure
                : PropertyListFailure(
                    path: failure.topLevelKey, topLevelKey: failure.topLevelKey, reason: failure.reason)
        }
        return switch self {
        case .typeMismatch: .mismatch(of: bare)
        case .constraintViolated: .violation(of: bare)
        case .valuesNotPlistCompatible: .unsupportedValues(bare)
        default: self
        }
    }

    /// Creates the error that has these failures. Costs time linear in their number.
    package static func unsupportedValues(_ failures: [PropertyListFailure]) -> PrefsError {
        let keys = Set(failures.map(\.topLevelKey)).sorted(byText: \.self)
        return .valuesNotPlistCompatible(
            invalidElements: InvalidKeys(keys, failures: failures.sorted(byText: \.path)))
    }

    /// Creates the error of keys that are not allowed. Its description suggests the allowed key that a single one resembles.
    package static func incorrectKeys(_ keys: [String], among allowed: [String]) -> PrefsError {
        // Not hashed, because a key may have any number of combining marks.
        let keys = keys.sorted(byText: \.self).reduce(into: [String]()) { keys, key in
            if keys.last?.hasSameBytes(as: key) != true { keys.append(key) }
        }
        return .incorrectKeys(invalidElements: InvalidKeys(keys, among: allowed))
    }

    /// Converts an error of any type.
    package init(_ error: any Error) {
        self = error as? PrefsError ?? (error as? FileError).map { PrefsError($0) } ?? .unknownError(error: error)
    }
}

// MARK: - Errors of the engine

extension PrefsError {
    init(_ error: FileError) {
        switch error {
        case .unreadable(let failure): self = .unreadable(failure)
        case .notStored(let failure): self = .notStored(failure)
        case .busy(let failure): self = .busy(failure)
        case .outcomeUnknown(let failure): self = .outcomeUnknown(failure)
        case .durabilityUnconfirmed(let failure): self = .durabilityUnconfirmed(failure)
        case .damaged(let file): self = file.quarantinedAs == nil ? .damaged(file) : .quarantined(file)
        case .notOurs(let file): self = .notOurs(file)
        case .updateOfAnotherFile: self = .updateOfAnotherStore
        case .writeInsideRead: self = .writeInsideRead
        case .nearLimit(let bytes, let limit): self = .nearSizeLimit(bytes: bytes, limit: limit)
        case .pathChanged: self = .unknownError(error: error)
        }
    }

    /// Runs the closure and converts the engine's errors to `PrefsError`; other errors pass.
    package static func converting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as FileError {
            throw PrefsError(error)
        }
    }
}
