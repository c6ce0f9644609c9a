public import Foundation

extension PrefsError: LocalizedError, CustomStringConvertible {
    /// One line in English that says what happened and, where there is one, the way out. Names keys, paths, types and
    /// limits, never a stored value.
    public var description: String {
        switch self {
        case .incorrectKeys(let keys):
            "not among the allowed keys: \(Self.quoted(keys))"
        case .valuesNotPlistCompatible, .constraintViolated:
            failures.map(\.description).joined(separator: "\n")
        case .noStoredPrefsForKey(let key):
            "nothing is stored under the root key \(Self.quoted([key]))"
        case .invalidName(let name, let reason):
            "\(Self.quoted([String(name.prefix(80))])) \(reason)"
        case .rootIsNotDictionary(let key):
            "what is stored under the root key \(Self.quoted([key])) is no dictionary; deleteAll() removes it"
        case .unreadable(let failure):
            "\(failure); the file was left as it is"
        case .damaged(let path, let reason, let setAsideAs?, let isRestored):
            "\(path): \(reason); set aside as \(setAsideAs), "
                + (isRestored ? "the last good state was restored" : "there was no last good state")
        case .damaged(let path, let reason, nil, let isRestored):
            "\(path): \(reason); it could not be set aside, writes are refused, "
                + (isRestored ? "reads give the last good state" : "no last good state can be read")
        case .notStored(let failure):
            "\(failure); the stored state is unchanged"
        case .durabilityUnconfirmed(let failure):
            "\(failure); the new state is stored, but may not survive a power cut"
        case .typeMismatch(let failure):
            "\(failure); the default is read"
        case .migrationFailed(let key, let version, let error):
            "\(Self.quoted([key])) could not be brought to version \(version): \(error); the stored state is unchanged"
        case .invalidImport(let reason):
            "the data cannot be imported: \(reason); the stored state is unchanged"
        case .notWatched(let failure):
            "\(failure); changes made elsewhere are not heard"
        case .updateOfAnotherStore:
            "a write to another store inside an update; end the update first"
        case .unknownError(let error):
            error.map { "\($0)" } ?? "unknown error"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }

    private static func quoted(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }
}
