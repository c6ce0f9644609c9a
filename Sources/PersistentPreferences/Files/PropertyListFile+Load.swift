import Foundation

extension PropertyListFile {
    /// What a look at the path finds.
    enum Found {
        /// A readable file, or none at all: both are states.
        case state(Snapshot)
        /// Bytes that are no property list of ours.
        case damage(DamagedFile)
    }

    /// A damaged file, held open, so that it can be told from another that takes its place.
    struct DamagedFile {
        let reason: String
        let status: FileStatus
        let file: OpenFile
    }

    /// What a load ends with.
    enum Loaded {
        case state(Snapshot)
        /// Damage that could not be moved: reads give the last good state, writes are refused.
        case stuck(DamageReport, lastGood: Content?)
    }

    /// The largest file that is read at all, and so the largest that is written.
    static let sizeLimit = 256 << 20

    /// Reads the file, publishes its state and gives it. Without a lock held, a damaged file is given time first: another
    /// program may be writing it.
    func load(under session: FileSession?) throws -> Loaded {
        removeTemporary(under: session)
        let loaded: Loaded =
            switch try find(under: session) {
            case .state(let snapshot): .state(snapshot)
            case .damage(let file): try recover(from: file, under: session)
            }
        if case .state(let snapshot) = loaded { publish(snapshot) } else { publish(nil) }
        return loaded
    }

    /// Opens and parses what is at the path; under a session, what has the file's name in its folder.
    func find(under session: FileSession?) throws -> Found {
        // A program that writes in place changes the file between two looks at it; each such round is a short one.
        for _ in 0..<100 {
            if let found = try findOnce(under: session) { return found }
            system.pause()
        }
        throw FileError.unreadable(StorageFailure(path: names.path, reason: "is being changed all the time"))
    }

    /// nil where the file changed while it was being read.
    private func findOnce(under session: FileSession?) throws -> Found? {
        guard let file = try open(under: session) else { return .state(Snapshot(system: system)) }
        do {
            let status = try system.status(of: file.descriptor)
            switch status.kind {
            case .file: break
            case .folder, .link: throw StorageFailure(path: "", reason: "is a folder")
            case .other(let kind): throw StorageFailure(path: "", reason: "is \(kind)")
            }
            let time = system.now()
            let bytes = try system.readAll(file.descriptor, size: status.size, limit: Self.sizeLimit)
            guard try system.status(of: file.descriptor) == status else { return nil }
            do {
                let (content, format) = try Self.decode(bytes, as: root)
                let source = Snapshot.Source(file: file, status: status, format: format, bytes: bytes, time: time)
                return .state(Snapshot(content: content, from: source, system: system))
            } catch PropertyListCoder.Flaw.damage(let reason) {
                return .damage(DamagedFile(reason: reason, status: status, file: file))
            } catch PropertyListCoder.Flaw.excess(let reason) {
                // It may be a good file of another program: it is not ours to move.
                throw StorageFailure(path: "", reason: reason)
            }
        } catch let failure as StorageFailure {
            throw FileError.unreadable(failure.at(names.path))
        }
    }

    /// nil where there is no file.
    private func open(under session: FileSession?) throws -> OpenFile? {
        // O_NONBLOCK: a FIFO in the place of the file must not be waited for.
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
        do {
            let descriptor =
                if let session {
                    try system.openRetrying(names.file, in: session.folder, flags)
                } else {
                    try system.openRetrying(names.path, in: AT_FDCWD, flags)
                }
            return OpenFile(descriptor, system)
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        } catch  where error.code == ELOOP {
            throw FileError.pathChanged
        } catch {
            throw FileError.unreadable(error.at(names.path))
        }
    }

    static func decode(
        _ bytes: Data, as root: Root = .domain
    ) throws(PropertyListCoder.Flaw) -> (content: Content, format: PropertyListFormat) {
        let (value, format) = try PropertyListCoder.decode(bytes)
        if root == .document { return ([documentKey: value], format) }
        guard let content = value as? Content else { throw .damage("its top level is no dictionary") }
        return (content, format)
    }

    /// A killed writer leaves its temporary file. The next one replaces it; a process that only reads removes it too, at
    /// its first look, unless somebody is writing at the moment.
    private func removeTemporary(under session: FileSession?) {
        guard isFirstLoad(), isThere(names.path(of: names.temporary)) else { return }
        // Nothing hangs on it: the next commit replaces it, or says that it cannot.
        if let session {
            try? system.remove(names.temporary, in: session.folder)
        } else if let session = try? FileSession(names, makesFolder: false, waits: false, system: system) {
            try? system.remove(names.temporary, in: session.folder)
            session.end()
        }
    }

    private func isThere(_ path: String) -> Bool {
        do {
            return try system.status(ofPath: path, followsLinks: false) != nil
        } catch {
            // It may be, and whoever looks for it will find out.
            return true
        }
    }
}
