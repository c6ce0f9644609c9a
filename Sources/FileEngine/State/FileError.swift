/// The errors of the engine. `PrefsError` has a case for each one that reaches a user.
package indirect enum FileError: Error, Equatable {
    case unreadable(StorageFailure)
    case notStored(StorageFailure)
    /// The time of a `LockWait` has passed.
    case busy(StorageFailure)
    /// The rename failed, and the names do not show whether the file was renamed.
    case outcomeUnknown(StorageFailure)
    case durabilityUnconfirmed(StorageFailure)
    case damaged(MalformedFile)
    case notOurs(MalformedFile)
    case updateOfAnotherFile
    case writeInsideRead
    /// A warning: the write has succeeded.
    case nearLimit(bytes: Int, limit: Int)
    /// The file was replaced by a link: the path must be resolved again.
    case pathChanged

    /// The malformed file; nil for another error.
    var file: MalformedFile? {
        switch self {
        case .damaged(let file), .notOurs(let file): file
        default: nil
        }
    }
}
