import Foundation

extension PropertyListFile {
    /// Deals with a file whose bytes are no property list. Nothing is lost and nothing hidden: whatever was there is set
    /// aside with its bytes intact, the last good state takes its place if there is one, and a notice is left.
    func recover(from found: DamagedFile, under session: FileSession?) throws -> Loaded {
        var damaged = found
        // Another program may be in the middle of writing it.
        for _ in 0..<50 where damaged.status.age(at: system.now()) < 1 {
            system.pause()
            switch try find(under: session) {
            case .state(let snapshot): return .state(snapshot)
            case .damage(let file): damaged = file
            }
        }
        if let session { return try setAside(damaged, under: session) }
        let own: FileSession
        do {
            // Inside an update of another file nothing is waited for: the holder may be waiting for that one.
            own = try FileSession(names, makesFolder: false, waits: Transaction.current == nil, system: system)
        } catch {
            return stuck(damaged, lastGood: try? lastGood(for: damaged, in: nil))
        }
        defer { own.end() }
        switch try find(under: own) {
        case .state(let snapshot): return .state(snapshot)
        case .damage(let file): return try setAside(file, under: own)
        }
    }

    /// Moves a damaged file aside and puts the last good state in its place, or leaves everything as it was.
    private func setAside(_ damaged: DamagedFile, under session: FileSession) throws -> Loaded {
        let good: LastGood?
        do {
            good = try lastGood(for: damaged, in: session.folder)
        } catch {
            // There may be one all the same: its place is not given away.
            return stuck(damaged, lastGood: nil)
        }
        var report = DamageReport(path: names.path, reason: damaged.reason)
        do {
            // A second name first, then the replacement over the old one: at no moment is there no file.
            let name = try nameAside(damaged, under: session)
            report.setAsideAs = names.path(of: name)
            do {
                // Or a power cut could take the new name and leave the replacement.
                try system.synchronizeRetrying(damaged.file.descriptor)
                try system.synchronizeFolder(session.folder)
                try replaceDamaged(by: good?.bytes, like: damaged.status, under: session)
            } catch {
                takeBack(name, of: damaged, under: session)
                throw error
            }
        } catch {
            return stuck(damaged, lastGood: good)
        }
        report.isRestored = good != nil
        leaveNotice(.damaged(report))
        currentCompanion?.didChange()
        switch try find(under: session) {
        case .state(let snapshot): return .state(snapshot)
        case .damage(let file): return stuck(file, lastGood: good)
        }
    }

    /// Gives a file that parses, and is not what somebody needs, a second name beside its own, so that it may be replaced.
    func keepAside(_ snapshot: Snapshot, reason: String, under session: FileSession) throws {
        guard let file = snapshot.file, let status = snapshot.status else { return }
        do {
            _ = try nameAside(DamagedFile(reason: reason, status: status, file: file), under: session)
            try system.synchronizeFolder(session.folder)
        } catch {
            throw FileError.notStored(error.at(names.path))
        }
    }

    /// Puts the bytes in the place of the damaged file, or nothing where there are none.
    private func replaceDamaged(by bytes: Data?, like old: FileStatus, under session: FileSession) throws {
        if let bytes {
            _ = try putInPlace(bytes, permissionsOf: old, durability: .powerCut, under: session)
        } else {
            try system.remove(names.file, in: session.folder)
        }
        // If the flush fails, a power cut may bring the damage back, and it is met again.
        try? system.synchronizeFolder(session.folder)
    }

    /// Gives the damaged file a free name beside its own.
    private func nameAside(_ damaged: DamagedFile, under session: FileSession) throws(StorageFailure) -> String {
        guard let there = try system.status(ofPath: names.file, in: session.folder, followsLinks: false),
            there.isSameFile(as: damaged.status)
        else { throw StorageFailure(path: names.path, reason: "was replaced meanwhile") }
        let time = system.now()
        for attempt in 0..<1_000 {
            let name = names.setAside(at: time, attempt: attempt)
            do {
                do {
                    try system.link(names.file, to: name, in: session.folder)
                } catch  where [EPERM, ENOTSUP, EMLINK, ENOSYS].contains(error.code) {
                    // No second names here (FAT, or a file of another user): a copy, then.
                    try copy(damaged, to: name, under: session)
                }
                return name
            } catch  where error.code == EEXIST {
                continue
            }
        }
        throw StorageFailure(path: names.path, reason: "has a thousand damaged namesakes")
    }

    private func copy(
        _ damaged: DamagedFile, to name: String, under session: FileSession
    ) throws(StorageFailure) {
        let file = damaged.file.descriptor
        let bytes = try system.readAll(file, size: damaged.status.size, limit: Self.sizeLimit)
        guard try system.status(of: file) == damaged.status else {
            throw StorageFailure(path: names.path, reason: "is being changed")
        }
        let copy = try make(name, bytes, permissions: Permissions(damaged.status), under: session)
        do {
            try system.synchronizeRetrying(copy.descriptor)
        } catch {
            try? system.remove(name, in: session.folder)
            throw error
        }
    }

    /// Undoes `nameAside` where the file still has its own name. Otherwise the bytes are safe under the new one.
    private func takeBack(_ name: String, of damaged: DamagedFile, under session: FileSession) {
        let place: FileStatus?
        do {
            place = try system.status(ofPath: names.file, in: session.folder, followsLinks: false)
        } catch {
            return
        }
        // It tidies up after a failure that is reported: where it fails, a second copy stays.
        if let place, place.isSameFile(as: damaged.status) { try? system.remove(name, in: session.folder) }
    }

    private func stuck(_ damaged: DamagedFile, lastGood: LastGood?) -> Loaded {
        .stuck(
            DamageReport(path: names.path, reason: damaged.reason, isRestored: lastGood != nil),
            lastGood: lastGood?.content)
    }

    private typealias LastGood = (content: Content, bytes: Data)

    /// The bytes of the last commit; nil where there are none, or none that are whole and of the same owner: in a folder
    /// that others may write to, anybody can plant some. Throws where they are there and cannot be read.
    private func lastGood(
        for damaged: DamagedFile, in folder: SystemCalls.Descriptor?
    ) throws(StorageFailure) -> LastGood? {
        let name = folder == nil ? names.path(of: names.lastGood) : names.lastGood
        let folder = folder ?? AT_FDCWD
        // Asked before it is opened: what somebody has planted to be refused must not be in the way.
        guard let planted = try system.status(ofPath: name, in: folder, followsLinks: false),
            case .file = planted.kind, planted.owner == damaged.status.owner
        else { return nil }
        let file: OpenFile
        do {
            let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
            file = OpenFile(try system.openRetrying(name, in: folder, flags), system)
        } catch  where error.code == ENOENT || error.code == ELOOP {
            return nil
        }
        let status = try system.status(of: file.descriptor)
        guard case .file = status.kind, status.owner == damaged.status.owner else { return nil }
        let bytes = try system.readAll(file.descriptor, size: status.size, limit: Self.sizeLimit)
        do {
            return (try Self.decode(bytes, as: root).content, bytes)
        } catch {
            return nil
        }
    }
}
