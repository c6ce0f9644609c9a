import Foundation

extension PropertyListFile {
    /// What is at the path.
    enum Found {
        /// A readable file, or none at all: both are states.
        case state(Snapshot)
        /// Bytes that are no property list of ours.
        case damage(reason: String, DamagedFile)
    }

    /// A damaged file, held open, so that what is set aside is what was looked at.
    final class DamagedFile {
        let status: FileStatus
        let bytes: Data
        let time: FileStatus.Time
        private var descriptor: SystemCalls.Descriptor?
        private let system: SystemCalls

        init(
            _ descriptor: SystemCalls.Descriptor, _ status: FileStatus, _ bytes: Data, _ time: FileStatus.Time,
            _ system: SystemCalls
        ) {
            self.descriptor = descriptor
            self.status = status
            self.bytes = bytes
            self.time = time
            self.system = system
        }

        deinit {
            if let descriptor { system.close(descriptor) }
        }

        func takeDescriptor() -> SystemCalls.Descriptor? {
            defer { descriptor = nil }
            return descriptor
        }
    }

    /// The largest file that is read at all.
    private static let sizeLimit = 256 << 20

    /// Reads the file, publishes its state and gives it. Without a lock held, a damaged file is given time first: another
    /// program may be writing it.
    func load(under session: FileSession?) throws -> Snapshot {
        removeTemporary(under: session)
        switch try find() {
        case .state(let snapshot):
            publish(snapshot)
            return snapshot
        case .damage(let reason, let file):
            let snapshot = try recover(from: reason, file, under: session)
            publish(snapshot)
            return snapshot
        }
    }

    /// Opens and parses what is at the path.
    func find() throws -> Found {
        // A program that writes in place changes the file between two looks at it; each such round is a short one.
        for _ in 0..<100 {
            if let found = try findOnce() { return found }
            system.pause()
        }
        throw FileError.unreadable(StorageFailure(path: names.path, reason: "is being changed all the time"))
    }

    /// nil where the file changed while it was being read.
    private func findOnce() throws -> Found? {
        let descriptor: SystemCalls.Descriptor
        do {
            // O_NONBLOCK: a FIFO in the place of the file must not be waited for.
            descriptor = try system.openRetrying(names.path, in: AT_FDCWD, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return .state(Snapshot(system: system))
        } catch  where error.code == ELOOP {
            throw FileError.pathChanged
        } catch {
            throw FileError.unreadable(error)
        }
        var isOpen = true
        defer { if isOpen { system.close(descriptor) } }
        let (status, bytes, time): (FileStatus, Data, FileStatus.Time)
        do {
            status = try system.status(of: descriptor)
            switch status.kind {
            case .file: break
            case .folder, .link: throw StorageFailure(path: "", reason: "is a folder")
            case .other(let kind): throw StorageFailure(path: "", reason: "is \(kind)")
            }
            time = system.now()
            bytes = try system.readAll(descriptor, size: status.size, limit: Self.sizeLimit)
            guard try system.status(of: descriptor) == status else { return nil }
        } catch let failure as StorageFailure {
            throw FileError.unreadable(failure.at(names.path))
        }
        isOpen = false
        do {
            let (content, format) = try Self.decode(bytes)
            return .state(
                Snapshot(
                    content: content, format: format, bytes: bytes, status: status, asOf: time,
                    descriptor: descriptor, system: system))
        } catch {
            return .damage(reason: error.reason, DamagedFile(descriptor, status, bytes, time, system))
        }
    }

    static func decode(
        _ bytes: Data
    ) throws(PropertyListCoder.Damage) -> (content: Content, format: PropertyListFormat) {
        let (value, format) = try PropertyListCoder.decode(bytes)
        guard let content = value as? Content else {
            throw PropertyListCoder.Damage(reason: "its top level is no dictionary")
        }
        return (content, format)
    }

    /// A killed writer leaves its temporary file. The next one replaces it; a process that only reads removes it too, at
    /// its first look, unless somebody is writing at the moment.
    private func removeTemporary(under session: FileSession?) {
        let path = names.path(of: names.temporary)
        guard isFirstLoad(), (try? system.status(ofPath: path, followsLinks: false)) != .some(nil) else { return }
        // Nothing hangs on it: where it cannot be removed, the next commit says so.
        if let session {
            try? system.remove(names.temporary, in: session.folder)
        } else if let session = try? FileSession(names, makesFolder: false, waits: false, system: system) {
            try? system.remove(names.temporary, in: session.folder)
            session.end()
        }
    }
}
