import PersistentPreferences

/// The cases of `PrefsError`. The `switch` does not compile without a new one, and `MessageTests` fails if that has no message.
enum PrefsErrorCase: CaseIterable {
    case incorrectKeys, valuesNotPlistCompatible, noStoredPrefsForKey, invalidName, rootIsNotDictionary, unreadable
    case damaged, quarantined, notOurs, notStored, busy, outcomeUnknown, nearSizeLimit, durabilityUnconfirmed
    case typeMismatch, constraintViolated, migrationFailed, invalidImport, notWatched, coveredByLayer
    case ruleViolated, ignoredInLayer, problem, updateOfAnotherStore, writeInsideRead, userDefaultsUnavailable,
        unknownError

    init(_ error: PrefsError) {
        self =
            switch error {
            case .incorrectKeys: .incorrectKeys
            case .valuesNotPlistCompatible: .valuesNotPlistCompatible
            case .noStoredPrefsForKey: .noStoredPrefsForKey
            case .invalidName: .invalidName
            case .rootIsNotDictionary: .rootIsNotDictionary
            case .unreadable: .unreadable
            case .damaged: .damaged
            case .quarantined: .quarantined
            case .notOurs: .notOurs
            case .notStored: .notStored
            case .busy: .busy
            case .outcomeUnknown: .outcomeUnknown
            case .nearSizeLimit: .nearSizeLimit
            case .durabilityUnconfirmed: .durabilityUnconfirmed
            case .typeMismatch: .typeMismatch
            case .constraintViolated: .constraintViolated
            case .ruleViolated: .ruleViolated
            case .migrationFailed: .migrationFailed
            case .invalidImport: .invalidImport
            case .notWatched: .notWatched
            case .coveredByLayer: .coveredByLayer
            case .ignoredInLayer: .ignoredInLayer
            case .problem: .problem
            case .updateOfAnotherStore: .updateOfAnotherStore
            case .writeInsideRead: .writeInsideRead
            case .userDefaultsUnavailable: .userDefaultsUnavailable
            case .unknownError: .unknownError
            }
    }
}
