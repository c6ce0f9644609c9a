public import Foundation
import PrefsFileEngine
import PrefsPropertyLists

extension PrefsError: LocalizedError, CustomStringConvertible {
    /// One line of English for each failure, at most 20, and the number of the others: what happened and, if possible,
    /// what to do. It names keys, paths, types and limits. It quotes no stored value. ``PrefsError/ignoredInLayer(_:)``
    /// quotes up to 40 characters of a text of the arguments or the environment. Keys are shortened. The text of a
    /// server, another store or another error is one line of at most 1,200 Unicode scalars. All control and format
    /// characters are escaped.
    public var description: String {
        switch self {
        case .incorrectKeys(let keys):
            "expected a key that @Pref declares or allowedKeys lists, found \(Self.quoted(keys))"
                + (keys.nearestAllowed.map { "; did you mean \(Self.quoted([$0]))?" } ?? "")
        case .valuesNotPlistCompatible, .typeMismatch, .constraintViolated:
            Self.listed(failures.map(\.description), separator: "\n", last: "\n")
        case .noStoredPrefsForKey(let key):
            "nothing is stored under the root key \(Self.quoted([key]))"
        case .invalidName(let name, let reason):
            "\(Self.quoted([name])) \(ShownText.message(reason))"
        case .rootIsNotDictionary(let key):
            "the root \(Self.quoted([key])): expected a dictionary, found another type; deleteRoot() removes it"
        case .unreadable(let failure):
            "\(failure); the stored state is unchanged"
        case .damaged(let file):
            "\(file.place); the file is unchanged, and \(file.state) is read"
                + (file.state.isOfEarlierRun ? ", without later edits" : "")
        case .quarantined(let file):
            "\(file.place); quarantined as \(ShownText.line(file.quarantinedAs ?? "")); "
                + (file.isWellFormed
                    ? "the result was stored"
                    : file.state == .nothing
                        ? "only this write was stored" : "the write started from \(file.state)")
        case .notOurs(let file):
            "\(file.place); the file is unchanged, because it may belong to another program"
        case .notStored(let failure), .busy(let failure):
            "\(failure); the stored state is unchanged"
        case .outcomeUnknown(let failure):
            "\(failure); nobody knows whether the new state is stored; read it before you repeat the write"
        case .nearSizeLimit(let bytes, let limit):
            "the domain has \(bytes) bytes; this system allows less than \(limit); the new state is stored; move large values to files"
        case .durabilityUnconfirmed(let failure):
            "\(failure); the new state is stored, but an older one may return after a power cut or damage"
        case .ruleViolated(let texts):
            Self.listed(texts.map(ShownText.message)) + "; the stored state is unchanged"
        case .migrationFailed: "\(reasonInLayer); the stored state is unchanged"
        case .invalidImport(let reason):
            "the data cannot be imported: \(ShownText.message(reason)); the stored state is unchanged"
        case .notWatched(let failure):
            // A system call that has failed may succeed later.
            "\(failure); changes made elsewhere are \(failure.operation.isEmpty ? "not reported" : "looked for once a second")"
        case .coveredByLayer(let keys):
            Self.listed(keys.map(\.reason)) + "; the stored state is unchanged"
        case .problem(let problem): "\(problem)"
        case .ignoredInLayer(let faults):
            Self.listed(faults.map(\.textOfLayer)) + "; ignored"
        case .updateOfAnotherStore:
            "a write to another store inside an update; end the update first"
        case .writeInsideRead:
            "a write inside a read, to this store or another; end the read first"
        case .userDefaultsUnavailable:
            "userDefaults of the class is nil; nothing is read or stored until it returns a UserDefaults"
        case .unknownError(let error):
            error.map(Self.text) ?? "unknown error"
        }
    }

    /// The description without what it says of the stored state, for a layer, which is never written.
    package var reasonInLayer: String {
        switch self {
        case .migrationFailed(let key, let version, let error):
            "\(Self.quoted([key])) could not be migrated to version \(version): \(Self.text(of: error))"
        default: description
        }
    }

    /// The text of `description`.
    public var errorDescription: String? { description }

    /// The lines of this package's errors are escaped already. The description of a Cocoa error is its domain, code and
    /// contents.
    private static func text(of error: any Error) -> String {
        switch error {
        case let error as PrefsError: error.description
        case is CocoaError, is POSIXError: ShownText.message(error.localizedDescription)
        default: ShownText.message("\(error)")
        }
    }

    private static func quoted(_ names: some RandomAccessCollection<String>) -> String {
        let others = names.count - mostNames
        return names.prefix(mostNames).map { "\"\(ShownText.key($0))\"" }.joined(separator: ", ")
            + (others > 0 ? " and \(others) more" : "")
    }

    private static func listed(_ parts: [String], separator: String = "; ", last: String = " ") -> String {
        let others = parts.count - mostNames
        return parts.prefix(mostNames).joined(separator: separator)
            + (others > 0 ? "\(last)and \(others) more" : "")
    }

    /// The most keys that a message names.
    private static let mostNames = 20
}

extension MalformedFile.KnownState: CustomStringConvertible {
    /// Whether edits that were made after the state may be lost to it.
    fileprivate var isOfEarlierRun: Bool {
        if case .lastGoodCopy = self { true } else { false }
    }

    /// The state as a noun: `the last good copy of 2026-11-22T08:30:00Z`.
    package var description: String {
        switch self {
        case .lastKnown: "the last known state"
        case .lastGoodCopy(let date):
            "the last good copy of "
                + UTCTime(secondsSince1970: Int64(date.timeIntervalSince1970.rounded(.down))).text + "Z"
        case .nothing: "nothing"
        }
    }
}

// MARK: - Comparing

extension PrefsError: Equatable {
    /// Whether two errors are of the same case and have equal details.
    ///
    /// Two errors of other types, such as those that a body has thrown, are equal if they have the same type and the
    /// same description. Two `valuesNotPlistCompatible` are equal if their keys are. Any thread.
    public static func == (left: PrefsError, right: PrefsError) -> Bool {
        left.parts == right.parts
    }

    /// The name of the case, and its details.
    private var parts: [AnyHashable] {
        switch self {
        case .incorrectKeys(let keys): ["incorrectKeys", Array(keys)]
        case .valuesNotPlistCompatible(let keys): ["valuesNotPlistCompatible", Array(keys)]
        case .noStoredPrefsForKey(let key): ["noStoredPrefsForKey", key]
        case .invalidName(let name, let reason): ["invalidName", name, reason]
        case .rootIsNotDictionary(let key): ["rootIsNotDictionary", key]
        case .unreadable(let failure): ["unreadable", failure]
        case .damaged(let file): ["damaged", file]
        case .quarantined(let file): ["quarantined", file]
        case .notOurs(let file): ["notOurs", file]
        case .notStored(let failure): ["notStored", failure]
        case .busy(let failure): ["busy", failure]
        case .outcomeUnknown(let failure): ["outcomeUnknown", failure]
        case .nearSizeLimit(let bytes, let limit): ["nearSizeLimit", bytes, limit]
        case .durabilityUnconfirmed(let failure): ["durabilityUnconfirmed", failure]
        case .typeMismatch(let values): ["typeMismatch", values]
        case .constraintViolated(let values): ["constraintViolated", values]
        case .ruleViolated(let texts): ["ruleViolated", texts]
        case .migrationFailed(let key, let version, let error):
            ["migrationFailed", key, version, Self.parts(of: error)]
        case .invalidImport(let reason): ["invalidImport", reason]
        case .notWatched(let failure): ["notWatched", failure]
        case .coveredByLayer(let keys): ["coveredByLayer", keys]
        case .ignoredInLayer(let faults): ["ignoredInLayer", faults]
        case .problem(let problem): ["problem", problem]
        case .userDefaultsUnavailable: ["userDefaultsUnavailable"]
        case .updateOfAnotherStore: ["updateOfAnotherStore"]
        case .writeInsideRead: ["writeInsideRead"]
        case .unknownError(let error): ["unknownError", error.map(Self.parts(of:)) ?? []]
        }
    }

    private static func parts(of error: any Error) -> [AnyHashable] {
        if let error = error as? PrefsError { return error.parts }
        return [ObjectIdentifier(type(of: error)), "\(error)"]
    }
}
