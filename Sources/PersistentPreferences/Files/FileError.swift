/// What the engine reports. `PrefsError` has a case for each that reaches a user, and says what it means there.
indirect enum FileError: Error {
    case unreadable(StorageFailure)
    case notStored(StorageFailure)
    case durabilityUnconfirmed(StorageFailure)
    case damaged(DamageReport)
    case updateOfAnotherFile
    /// A link now stands where the file stood: the path has to be followed anew.
    case pathChanged
}

/// A file whose bytes are no property list, and what was done about it.
struct DamageReport: Sendable {
    let path: String
    let reason: String
    var setAsideAs: String?
    /// Whether the last good state took the file's place; with nothing set aside, whether reads give it.
    var isRestored = false
}
