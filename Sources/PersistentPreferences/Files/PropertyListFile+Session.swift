/// The file under the lock that keeps other processes out.
extension PropertyListFile {
    /// Within a transaction: keeps the file that it started from, which is about to be replaced, under another name.
    func keepAside(reason: String) throws {
        guard let session else { preconditionFailure("keepAside outside begin and end") }
        try refuseFork(of: session.lock)
        try keepAside(session.base, reason: reason, under: session.lock)
    }

    /// What was begun before a fork is the parent's to commit; the child would do it a second time, without the lock.
    func refuseFork(of session: FileSession) throws {
        guard !session.isOfThisProcess else { return }
        let reason = "is being updated by the parent of this forked process"
        throw FileError.notStored(StorageFailure(path: names.path, reason: reason))
    }

    /// The state that a transaction starts from.
    func current(under session: FileSession) throws -> Snapshot {
        // The folder that is locked may not be the one that the cache is from.
        if let status = committedStatus,
            let there = try? system.status(ofPath: names.file, in: session.folder, followsLinks: false),
            there == status, let current = validated()?.snapshot, current.status == status
        {
            return current
        }
        switch try load(under: session) {
        case .state(let snapshot): return snapshot
        case .stuck(let damage, _): throw FileError.damaged(damage)
        }
    }
}
