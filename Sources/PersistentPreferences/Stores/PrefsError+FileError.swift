/// The engine's errors as those of the package.
extension PrefsError {
    init(_ error: FileError) {
        switch error {
        case .unreadable(let failure): self = .unreadable(failure)
        case .notStored(let failure): self = .notStored(failure)
        case .durabilityUnconfirmed(let failure): self = .durabilityUnconfirmed(failure)
        case .damaged(let report):
            self = .damaged(
                path: report.path, reason: report.reason, setAsideAs: report.setAsideAs,
                isRestored: report.isRestored)
        case .updateOfAnotherFile: self = .updateOfAnotherStore
        case .pathChanged: self = .unknownError(error: error)
        }
    }

    /// Runs the closure and gives the engine's errors as ours; others pass.
    static func converting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as FileError {
            throw PrefsError(error)
        }
    }
}
