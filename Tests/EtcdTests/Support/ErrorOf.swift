import PersistentPreferences
import Testing

/// The error that the closure throws; nil if it throws none, or another one.
func error(of body: () throws -> Void) -> PrefsError? {
    do {
        try body()
        return nil
    } catch {
        return error as? PrefsError
    }
}

extension PrefsError? {
    /// The failure of a read that did not reach the cluster; nil for every other error.
    var unreadable: StorageFailure? { if case .unreadable(let failure)? = self { failure } else { nil } }

    /// The failure of an update that was rejected; nil for every other error.
    var notStored: StorageFailure? { if case .notStored(let failure)? = self { failure } else { nil } }
}

func expectUnknownOutcome(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    let failure = error(of: body)
    if case .outcomeUnknown? = failure { return }
    Issue.record("expected outcomeUnknown, found \(failure as Any)", sourceLocation: sourceLocation)
}
