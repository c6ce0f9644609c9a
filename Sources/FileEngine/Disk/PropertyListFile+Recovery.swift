package import Foundation
import PrefsPropertyLists

/// Malformed files. A read returns the newest known state and leaves the file alone; a write quarantines the bytes
/// first, if the file is ours.
extension PropertyListFile {
    // MARK: - Reading

    /// The state that is read in place of a malformed file: the newer of what this process last knew and the last good
    /// copy.
    ///
    /// An emptied file is what a crash leaves, in every format. With a copy, a write starts from that state; without one
    /// it is missing.
    ///
    /// - Parameters:
    ///   - mayBeWritten: whether the file is empty, and a person's program may be writing it.
    ///   - end: when another look is due although the file does not change, by the monotonic clock; nil for never.
    func state(
        inPlaceOf bytes: MalformedBytes, _ copy: LastGoodCopy, mayBeWritten: Bool, until end: Duration?
    ) -> Snapshot {
        let (state, known) = newest(knownState, copy)
        // Bytes in the place of a property list are damage.
        let isForPeople =
            bytes.isForPeople && known?.isForPeople ?? true && currentMirror == nil && !rules.quarantinesMistakes
        let isEmpty = Self.isBlank(bytes.source.bytes.joined)
        let hadValues = known != nil || self.state.withLock { $0.stateBeforeLoss != nil }
        let isBeingWritten = mayBeWritten && isForPeople && hadValues
        if isEmpty, !isBeingWritten, case .missing = copy {
            let report = MalformedFile(path: names.path, fault: Self.emptied, state: .nothing)
            if isForPeople, hadValues { leaveWarning(.damaged(report), of: bytes.source.status) }
            return Snapshot(content: nil, from: bytes.source, system: system)
        }
        let source = Snapshot.Source(
            file: bytes.source.file, status: bytes.source.status, format: known?.format ?? bytes.source.format,
            bytes: bytes.source.bytes, nextStamp: bytes.source.nextStamp)
        let kind: Snapshot.Fault.Kind =
            if isBeingWritten {
                .mistake
            } else if isEmpty, copy.isOurs {
                .emptied
            } else if isForPeople, copy.isOurs, !isOfMachine(bytes, copy) {
                .mistake
            } else if copy.isOurs || currentMirror != nil {
                .damage
            } else {
                .foreign
            }
        let fault =
            if isBeingWritten {
                PropertyListFault(reason: "is empty; another program may be writing it")
            } else if kind == .emptied {
                Self.emptied
            } else {
                bytes.fault
            }
        let report = MalformedFile(path: names.path, fault: fault, state: state, isEmptied: kind == .emptied)
        return Snapshot(
            content: known?.content, from: source, fault: Snapshot.Fault(report: report, kind), loss: known?.loss,
            sourceBytes: known?.text, expiresAt: isBeingWritten || !mayBeWritten ? end : nil, system: system)
    }

    private static let emptied = PropertyListFault(reason: "is empty, and had values before")

    /// Whether a text has no content.
    package static func isBlank(_ bytes: Data) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        return text.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }

    /// Whether only a machine leaves such bytes. What a person writes has no NUL, and does not end in the middle of what
    /// the program has written.
    private func isOfMachine(_ bytes: MalformedBytes, _ copy: LastGoodCopy) -> Bool {
        let found = bytes.source.bytes.joined
        if case .usable(let known, _) = copy, known.text?.joined.starts(with: found) == true { return true }
        return found.contains(0)
    }

    /// What is known of a file that cannot be read: the last known state, or else the last good copy.
    func knownOfUnreadable() -> RememberedState? {
        if let knownState { return knownState }
        guard let owner = (try? system.status(ofPath: names.path, followsLinks: false))?.owner,
            case .usable(let known, _)? = try? lastGoodCopy(of: [owner], under: nil)
        else { return nil }
        return known
    }

    /// The state that this process has learned last. The time of the copy's bytes says whether it knows the copy; the
    /// change time would also show a new mode.
    func newest(
        _ known: RememberedState?, _ copy: LastGoodCopy
    ) -> (report: MalformedFile.KnownState, state: RememberedState?) {
        guard case .usable(let copied, let date) = copy else { return (known == nil ? .nothing : .lastKnown, known) }
        // The copy of a commit is younger than its file, so equal contents count as the known state.
        if let known, known.changed >= copied.changed || known.content.isEqual(to: copied.content) {
            return (.lastKnown, known)
        }
        return (.lastGoodCopy(date), copied)
    }

    // MARK: - Writing

    /// What a write has quarantined.
    struct Quarantine {
        let name: String
        /// What has the name: the malformed file itself, a good file that is kept for a reason, the last good copy, or a
        /// new file with the last known state.
        let kind: Kind

        enum Kind: Equatable {
            case file, copy, lastKnown
            case former(reason: String)
        }

        /// Whether there was no file, so that one name is enough for all of them.
        var isOfMissing: Bool { kind == .copy || kind == .lastKnown }
    }

    /// Gives the malformed file a second name beside its own, and flushes names and bytes, so that the file may be
    /// replaced. The file exists at every moment. For a missing file, keeps what was known of it.
    ///
    /// - Parameter reason: why a good file gets a second name, too; nil if it does not.
    /// - Returns: nil for a good file without a reason, and for a missing file of which nothing was known.
    func quarantine(
        _ base: Snapshot, keepingBecause reason: String? = nil, under writeLock: WriteLock
    ) throws -> Quarantine? {
        do throws(StorageFailure) {
            // A file that was emptied counts as missing: its bytes are nothing to keep.
            guard let file = base.file, let status = base.status, base.fault?.kind != .emptied,
                base.fault != nil || base.content != nil
            else { return try quarantineLost(base, under: writeLock) }
            let kind = base.fault == nil ? reason.map { Quarantine.Kind.former(reason: $0) } : .file
            guard let kind else { return nil }
            let opened = try writeLock.opened(file, as: names.file)
            return Quarantine(
                name: try quarantineName(of: names.file, opened, status, under: writeLock), kind: kind)
        } catch {
            throw FileError.notStored(error.at(names.path))
        }
    }

    /// Undoes `quarantine` after a failed write.
    func release(_ quarantine: Quarantine, _ base: Snapshot, under writeLock: WriteLock) {
        switch quarantine.kind {
        case .file, .former: release(quarantine.name, of: names.file, base.status, under: writeLock)
        case .copy: release(quarantine.name, of: names.lastGood, nil, under: writeLock)
        // This process still knows the state.
        case .lastKnown: try? system.remove(quarantine.name, in: writeLock.folder)
        }
    }

    /// Removes the second name of a file that still has its own name. If it has lost that name, the second name stays
    /// and keeps the bytes.
    private func release(_ name: String, of own: String, _ status: FileStatus?, under writeLock: WriteLock) {
        // Tidies up after a failure that is reported. If a call fails here, a second copy stays.
        guard let place = try? system.status(ofPath: own, in: writeLock.folder, followsLinks: false),
            let other = status ?? (try? system.status(ofPath: name, in: writeLock.folder, followsLinks: false)),
            place.isSameFile(as: other)
        else { return }
        try? system.remove(name, in: writeLock.folder)
    }

    /// Leaves the warning that a write has quarantined the file, or what was known of a missing or empty one.
    func warn(of quarantine: Quarantine, _ base: Snapshot, under writeLock: WriteLock) {
        let name =
            quarantine.isOfMissing ? renameToSharedCopy(quarantine.name, under: writeLock) : quarantine.name
        let state = base.status == nil ? "missing" : "empty"
        let missing =
            if quarantine.kind == .copy {
                PropertyListFault(reason: "was \(state), and its last good copy was there")
            } else {
                PropertyListFault(reason: "was \(state), and had values before")
            }
        let known = base.fault?.kind == .emptied ? base.fault?.report.state : nil
        var report = MalformedFile(path: names.path, fault: missing, state: known ?? .nothing)
        if let fault = base.fault, fault.kind != .emptied { report = fault.report }
        if case .former(let reason) = quarantine.kind {
            report = MalformedFile(
                path: names.path, fault: PropertyListFault(reason: reason), state: .lastKnown, isWellFormed: true)
        }
        report.quarantinedAs = names.path(of: name)
        leaveWarning(.damaged(report))
    }

    /// Gives a file a second name, and flushes its bytes and its names.
    func quarantineName(
        of own: String, _ file: OpenFile, _ status: FileStatus, under writeLock: WriteLock
    ) throws(StorageFailure) -> String {
        let name = try secondName(of: own, file, status, under: writeLock)
        do throws(StorageFailure) {
            try system.synchronizeRetrying(file.descriptor)
            try system.synchronizeFolder(writeLock.folder)
        } catch {
            release(name, of: own, status, under: writeLock)
            throw error
        }
        return name
    }

    private func secondName(
        of own: String, _ file: OpenFile, _ status: FileStatus, under writeLock: WriteLock
    ) throws(StorageFailure) -> String {
        guard let there = try system.status(ofPath: own, in: writeLock.folder, followsLinks: false),
            writeLock.volume.mayBe(there, status)
        else { throw StorageFailure(path: names.path(of: own), reason: "was replaced meanwhile") }
        return try freeName { name throws(StorageFailure) in
            do throws(StorageFailure) {
                try writeLock.volume.link(own, to: name, in: writeLock.folder, system)
            } catch  where [EPERM, ENOTSUP, EMLINK, ENOSYS].contains(error.code) {
                // Makes a copy where second names are not possible (FAT, or a file of another user).
                try copy(file, status, to: name, under: writeLock)
            }
        }
    }

    /// Gives the closure names of quarantined files until one is free.
    func freeName(_ make: (String) throws(StorageFailure) -> Void) throws(StorageFailure) -> String {
        let time = system.wallClockNow()
        for attempt in 0..<1_000 {
            let name = names.quarantine(at: time, attempt: attempt)
            do {
                try make(name)
                return name
            } catch  where error.code == EEXIST {
                continue
            }
        }
        throw StorageFailure(path: names.path, reason: "1000 files were quarantined in this second already; try again")
    }

    private func copy(
        _ file: OpenFile, _ status: FileStatus, to name: String, under writeLock: WriteLock
    ) throws(StorageFailure) {
        let bytes = try system.readAll(file.descriptor, size: status.size, limit: PropertyListLimits.fileBytes)
        let now = try system.status(of: file.descriptor)
        guard !writeLock.volume.tellsFilesApart || now == status else {
            throw StorageFailure(path: names.path, reason: "was changed during the attempt")
        }
        try makeDurable(name, FileBytes(bytes), like: .owner(of: status), protectedAs: file, under: writeLock)
    }

    /// Makes a file, and flushes its bytes.
    func makeDurable(
        _ name: String, _ bytes: FileBytes, like permissions: Permissions?, protectedAs file: OpenFile?,
        under writeLock: WriteLock
    ) throws(StorageFailure) {
        let copy = try make(name, bytes, like: permissions, protectedAs: file, under: writeLock)
        do {
            try system.synchronizeRetrying(copy.file.descriptor)
        } catch {
            try? system.remove(name, in: writeLock.folder)
            throw error
        }
    }
}

// MARK: - Missing and emptied files

extension PropertyListFile {
    /// Gives the quarantined copy of a missing or empty file the name that it shares with earlier ones, so that one is
    /// kept.
    private func renameToSharedCopy(_ name: String, under writeLock: WriteLock) -> String {
        // If it fails, the copy stays under its first name.
        guard (try? system.rename(name, to: names.copyOfMissing, in: writeLock.folder)) != nil else { return name }
        return names.copyOfMissing
    }

    /// Keeps what was known of a missing or empty file under a name that no commit replaces: the last good copy, or the
    /// last known state if that is newer.
    ///
    /// - Returns: nil if nothing was known.
    func quarantineLost(_ base: Snapshot, under writeLock: WriteLock) throws(StorageFailure) -> Quarantine? {
        guard let folder = try folderStatus(under: writeLock) else { return nil }
        let owners: Set = [geteuid(), folder.owner]
        if let lost = state.withLock({ base.fault == nil ? $0.stateBeforeLoss : $0.known }),
            let bytes = try bytesBeyondCopy(of: lost, owners, under: writeLock)
        {
            let name = try freeName { name throws(StorageFailure) in
                try makeDurable(
                    name, FileBytes(CheckedCopy.copy(of: bytes)), like: nil, protectedAs: nil, under: writeLock)
            }
            do throws(StorageFailure) {
                try system.synchronizeFolder(writeLock.folder)
            } catch {
                try? system.remove(name, in: writeLock.folder)
                throw error
            }
            return Quarantine(name: name, kind: .lastKnown)
        }
        // Checked before it is opened, because a file that another user planted must not prevent a write.
        guard let planted = try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false),
            planted.isTrustedCopy(of: owners),
            let (copy, status) = try system.openFile(names.lastGood, in: writeLock.folder),
            status.isTrustedCopy(of: owners)
        else { return nil }
        return Quarantine(name: try quarantineName(of: names.lastGood, copy, status, under: writeLock), kind: .copy)
    }

    /// The bytes of a state; nil if the last good copy has it or a newer one.
    private func bytesBeyondCopy(
        of lost: RememberedState, _ owners: Set<UInt32>, under writeLock: WriteLock
    ) throws(StorageFailure) -> FileBytes? {
        if case .usable(let copied, _)? = try? lastGoodCopy(of: owners, under: writeLock),
            copied.content.isEqual(to: lost.content) || copied.changed > lost.changed
        {
            return nil
        }
        if let text = lost.text { return text }
        do {
            // Binary holds more than XML, in fewer bytes.
            return try lost.format.flatMap { try? encoded(lost.content, as: $0, replacing: lost.content) }
                ?? encoded(lost.content, as: .binary, replacing: nil)
        } catch FileError.notStored(let failure) {
            throw failure
        } catch {
            throw StorageFailure(path: names.path, reason: "\(error)")
        }
    }

    func copyStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false) }
        return try system.status(ofPath: names.path(of: names.lastGood), followsLinks: false)
    }

    func folderStatus(under writeLock: WriteLock?) throws(StorageFailure) -> FileStatus? {
        if let writeLock { return try system.status(of: writeLock.folder) }
        return try system.status(ofPath: names.folder, followsLinks: false)
    }
}
