/// What the engine reports. `PrefsError` has a case for each that reaches a user, and says what it means there.
package indirect enum FileError: Error {
    case unreadable(StorageFailure)
    case notStored(StorageFailure)
    case durabilityUnconfirmed(StorageFailure)
    case damaged(MalformedFile)
    case notOurs(MalformedFile)
    case updateOfAnotherFile
    /// A warning: the write has succeeded.
    case nearLimit(bytes: Int, limit: Int)
    /// A link now stands where the file stood: the path has to be followed anew.
    case pathChanged
}
