import PrefsPropertyLists

/// The steps of one transaction, as the queue calls them.
extension PropertyListFile {
    package func begin() throws -> Content? {
        let writeLock = try lockForWriting()
        do {
            // A killed writer has left it; the next commit would replace it, and may never come.
            if isFirstTransaction() { try? system.remove(names.temporary, in: writeLock.folder) }
            var snapshot = try writable(current(under: writeLock))
            if snapshot.fault == nil, let mirror = currentMirror {
                mirror.willChange()
                snapshot = try writable(current(under: writeLock))
                mirror.note(snapshot.content)
            }
            currentSession.withLock { $0 = Session(lock: writeLock, base: snapshot) }
            return snapshot.content
        } catch {
            writeLock.end()
            throw error
        }
    }

    package func commit(_ content: Content, durability: CommitDurability) throws {
        guard let session else { preconditionFailure("commit outside begin and end") }
        try refuseFork(of: session.lock)
        try replace(session.base, with: content, durability: durability, under: session.lock)
    }

    package func confirm() throws {
        guard let session else { preconditionFailure("confirm outside begin and end") }
        try refuseFork(of: session.lock)
        let base = session.base
        if base.fault == nil, try flushInPlace(base) { return }
        if let content = base.content {
            try store(content, replacing: base, durability: .powerCut, under: session.lock)
        } else if base.fault != nil {
            try removeFile(base, durability: .powerCut, under: session.lock)
        }
    }

    package func end() {
        // The files are closed outside of the lock.
        let ended = session
        ended?.lock.end()
        currentSession.withLock { $0 = nil }
    }

    /// Whether the state that the session started from has the required durability.
    package func isConfirmed(_ durability: CommitDurability) -> Bool {
        guard let session else { preconditionFailure("isConfirmed outside begin and end") }
        return self.durability(of: session.base) >= durability
    }

    package func stored(_ content: Content?) -> Content? {
        guard let session else { preconditionFailure("stored outside begin and end") }
        return content.map { PropertyListCoder.storable($0, as: session.base.format ?? newFileFormat) }
    }
}
