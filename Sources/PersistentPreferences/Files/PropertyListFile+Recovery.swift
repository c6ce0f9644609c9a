import Foundation

extension PropertyListFile {
    /// Deals with a file whose bytes are no property list. Nothing is lost and nothing hidden: whatever was there is set
    /// aside with its bytes intact, the last good state takes its place if there is one, and a notice is left.
    func recover(from reason: String, _ file: DamagedFile, under session: FileSession?) throws -> Snapshot {
        var reason = reason
        var file = file
        // Another program may be in the middle of writing it.
        for _ in 0..<50 where file.status.age(at: system.now()) < 1 {
            system.pause()
            switch try find() {
            case .state(let snapshot): return snapshot
            case .damage(let newReason, let newFile): (reason, file) = (newReason, newFile)
            }
        }
        if let session { return try setAside(file, reason, under: session) }
        let own: FileSession
        do {
            // Inside an update of another file nothing is waited for: the holder may be waiting for that one.
            own = try FileSession(names, makesFolder: false, waits: Transaction.current == nil, system: system)
        } catch {
            return unmovable(file, reason, lastGood: lastGood())
        }
        defer { own.end() }
        switch try find() {
        case .state(let snapshot): return snapshot
        case .damage(let reason, let file): return try setAside(file, reason, under: own)
        }
    }

    /// Moves a damaged file aside and puts the last good state in its place.
    private func setAside(_ file: DamagedFile, _ reason: String, under session: FileSession) throws -> Snapshot {
        var report = DamageReport(path: names.path, reason: reason)
        let good = lastGood()
        do {
            // A second name first, then the replacement over the old one: at no moment is there no file.
            let name = try nameAside(file, under: session)
            report.setAsideAs = names.path(of: name)
            if let good {
                let (descriptor, _) = try putInPlace(
                    good.bytes, permissionsOf: file.status, durability: .powerCut, under: session)
                system.close(descriptor)
                report.isRestored = true
            } else {
                try? system.remove(names.file, in: session.folder)
            }
            try? system.synchronizeRetrying(session.folder)
        } catch {
            return unmovable(file, reason, lastGood: good)
        }
        leaveNotice(.damaged(report))
        currentCompanion?.didChange()
        guard case .state(let snapshot) = try find() else {
            return unmovable(file, reason, lastGood: good)
        }
        return snapshot
    }

    /// Gives the damaged file a free name beside its own.
    private func nameAside(_ file: DamagedFile, under session: FileSession) throws(StorageFailure) -> String {
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

    /// The damage stays where it is: reads give the last good state, and writes are refused.
    private func unmovable(
        _ file: DamagedFile, _ reason: String, lastGood: (content: Content, bytes: Data)?
    ) -> Snapshot {
        let report = DamageReport(path: names.path, reason: reason)
        guard let descriptor = file.takeDescriptor() else { return Snapshot(system: system) }
        return Snapshot(
            content: lastGood?.content, format: nil, bytes: file.bytes, status: file.status, asOf: file.time,
            descriptor: descriptor, damage: report, system: system)
    }

    /// The bytes of the last commit, where they are there and whole.
    private func lastGood() -> (content: Content, bytes: Data)? {
        let path = names.path(of: names.lastGood)
        guard let descriptor = try? system.openRetrying(path, in: AT_FDCWD, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        else { return nil }
        defer { system.close(descriptor) }
        guard let status = try? system.status(of: descriptor), case .file = status.kind,
            let bytes = try? system.readAll(descriptor, size: status.size, limit: 256 << 20),
            let (content, _) = try? Self.decode(bytes)
        else { return nil }
        return (content, bytes)
    }
}
