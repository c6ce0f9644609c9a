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
        case .incorrectKeys(let keys): ["incorrectKeys", keys]
        case .valuesNotPlistCompatible(let keys): ["valuesNotPlistCompatible", keys]
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
        case .typeMismatch(let failures): ["typeMismatch", failures]
        case .constraintViolated(let failures): ["constraintViolated", failures]
        case .migrationFailed(let key, let version, let error):
            ["migrationFailed", key, version, Self.parts(of: error)]
        case .invalidImport(let reason): ["invalidImport", reason]
        case .notWatched(let failure): ["notWatched", failure]
        case .sharedRoot(let shared): ["sharedRoot", shared]
        case .coveredByLayer(let keys): ["coveredByLayer", keys]
        case .invalidLayer(let faults): ["invalidLayer", faults]
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
