import PrefsFileEngine

/// Converts the engine's errors.
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
