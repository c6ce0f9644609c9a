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
            return stuck(damaged, lastGood: lastGood(for: damaged, in: nil))
        }
        defer { own.end() }
        switch try find(under: own) {
        case .state(let snapshot): return .state(snapshot)
        case .damage(let file): return try setAside(file, under: own)
        }
    }

    /// Moves a damaged file aside and puts the last good state in its place, or leaves everything as it was.
    private func setAside(_ damaged: DamagedFile, under session: FileSession) throws -> Loaded {
        let good = lastGood(for: damaged, in: session.folder)
        var report = DamageReport(path: names.path, reason: damaged.reason)
        do {
            // A second name first, then the replacement over the old one: at no moment is there no file.
            let name = try nameAside(damaged, under: session)
            report.setAsideAs = names.path(of: name)
            do {
                // Or a power cut could take the new name and leave the replacement.
                try system.synchronizeRetrying(damaged.file.descriptor)
                try system.synchronizeRetrying(session.folder)
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

    /// Puts the bytes in the place of the damaged file, or nothing where there are none.
    private func replaceDamaged(by bytes: Data?, like old: FileStatus, under session: FileSession) throws {
        if let bytes {
            _ = try putInPlace(bytes, permissionsOf: old, durability: .powerCut, under: session)
        } else {
            do {
                try system.remove(names.file, in: session.folder)
            } catch  where error.code == ENOENT {
                // Renamed, not linked: it is gone already.
            }
        }
        // If the flush fails, a power cut may bring the damage back, and it is met again.
        try? system.synchronizeRetrying(session.folder)
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
                try system.link(names.file, to: name, in: session.folder)
                return name
            } catch  where error.code == EEXIST {
                continue
            } catch  where [EPERM, ENOTSUP, EMLINK, ENOSYS].contains(error.code) {
                // No second names here (FAT, or a file of another user): rename, where nothing is in the way.
                guard try system.status(ofPath: name, in: session.folder, followsLinks: false) == nil else { continue }
                try system.rename(names.file, to: name, in: session.folder)
                return name
            }
        }
        throw StorageFailure(path: names.path, reason: "has a thousand damaged namesakes")
    }

    /// Undoes `nameAside` where the file still has, or had to give up, its own name. Never removes its last one.
    private func takeBack(_ name: String, of damaged: DamagedFile, under session: FileSession) {
        // Both are attempts to tidy up after a failure that is reported; the bytes are safe under either name.
        let place = try? system.status(ofPath: names.file, in: session.folder, followsLinks: false)
        if place == .some(nil) {
            try? system.rename(name, to: names.file, in: session.folder)
        } else if let place, place.isSameFile(as: damaged.status) {
            try? system.remove(name, in: session.folder)
        }
    }

    private func stuck(_ damaged: DamagedFile, lastGood: (content: Content, bytes: Data)?) -> Loaded {
        .stuck(
            DamageReport(path: names.path, reason: damaged.reason, isRestored: lastGood != nil),
            lastGood: lastGood?.content)
    }

    /// The bytes of the last commit, where they are there, whole, and of the same owner: in a folder that others may
    /// write to, anybody can plant some.
    private func lastGood(
        for damaged: DamagedFile, in folder: SystemCalls.Descriptor?
    ) -> (content: Content, bytes: Data)? {
        let name = folder == nil ? names.path(of: names.lastGood) : names.lastGood
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
        guard let descriptor = try? system.openRetrying(name, in: folder ?? AT_FDCWD, flags) else { return nil }
        let file = OpenFile(descriptor, system)
        guard let status = try? system.status(of: file.descriptor), case .file = status.kind,
            status.owner == damaged.status.owner,
            let bytes = try? system.readAll(file.descriptor, size: status.size, limit: Self.sizeLimit),
            let (content, _) = try? Self.decode(bytes)
        else { return nil }
        return (content, bytes)
    }
}
