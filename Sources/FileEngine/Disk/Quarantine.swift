import Foundation
import PrefsPropertyLists

/// Keeps what a write would lose under another name beside the file.
struct Quarantine: Sendable {
    let names: FileNames
    let system: SystemCalls
    let copies: LastGoodCopies
    let writer: FileWriter

    /// Gives the malformed file a second name beside its own, and flushes names and bytes, so that the file may be
    /// replaced. The file exists at every moment. For a missing file, keeps what was known of it.
    ///
    /// - Parameters:
    ///   - reason: why a good file gets a second name, too; nil if it does not.
    ///   - lost: what was known of the file before it was found missing or empty.
    /// - Returns: nil for a good file without a reason, and for a missing file of which nothing was known.
    func keep(
        _ base: FileState, because reason: String? = nil, lost: @autoclosure () -> FileState?,
        by coder: @autoclosure () -> ContentCoder, under writeLock: WriteLock
    ) throws -> QuarantinedFile? {
        do throws(StorageFailure) {
            // A file that was emptied counts as missing: its bytes are nothing to keep.
            guard let status = base.status, base.faultKind != .emptied, base.fault != nil || base.content != nil
            else { return try quarantineLost(lost(), by: coder, under: writeLock) }
            let kind = base.fault == nil ? reason.map { QuarantinedFile.Kind.former(reason: $0) } : .file
            guard let kind else { return nil }
            let file = try writeLock.file(of: base, as: names.file)
            return QuarantinedFile(
                name: try quarantineName(of: names.file, file, status, under: writeLock), kind: kind)
        } catch {
            throw FileError.notStored(error.at(names.path))
        }
    }

    /// Gives the quarantined copy of a missing or empty file the name that it shares with earlier ones, so that one is
    /// kept.
    ///
    /// - Returns: the warning that a write has quarantined the file, or what was known of a missing or empty one.
    func warning(
        of quarantine: QuarantinedFile, _ base: FileState, under writeLock: WriteLock
    ) -> FileError {
        var name = quarantine.name
        // If it fails, the copy stays under its first name.
        if quarantine.isOfMissing,
            (try? system.rename(name, to: names.copyOfMissing, in: writeLock.folder)) != nil
        {
            name = names.copyOfMissing
        }
        let state = base.status == nil ? "missing" : "empty"
        let missing =
            if quarantine.kind == .copy {
                PropertyListFault(reason: "was \(state), and its last good copy was there")
            } else {
                PropertyListFault(reason: "was \(state), and had values before")
            }
        let malformed = base.fault?.file
        var report = MalformedFile(path: names.path, fault: missing, state: malformed?.state ?? .nothing)
        if let malformed, base.faultKind != .emptied { report = malformed }
        if case .former(let reason) = quarantine.kind {
            report = MalformedFile(
                path: names.path, fault: PropertyListFault(reason: reason), state: .lastKnown, isWellFormed: true)
        }
        report.quarantinedAs = names.path(of: name)
        return .damaged(report)
    }

    /// Undoes `keep` after a failed write.
    func release(_ quarantine: QuarantinedFile, _ base: FileState, under writeLock: WriteLock) {
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
        try writer.makeDurable(name, FileBytes(bytes), like: .owner(of: status), protectedAs: file, under: writeLock)
    }

    // MARK: - Missing and emptied files

    /// Keeps what was known of a missing or empty file under a name that no commit replaces: the last good copy, or the
    /// last known state if that is newer.
    ///
    /// - Returns: nil if nothing was known.
    private func quarantineLost(
        _ lost: FileState?, by coder: () -> ContentCoder, under writeLock: WriteLock
    ) throws(StorageFailure) -> QuarantinedFile? {
        guard let folder = try copies.folderStatus(under: writeLock) else { return nil }
        let owners: Set = [geteuid(), folder.owner]
        if let lost, let bytes = try bytesBeyondCopy(of: lost, by: coder(), owners, under: writeLock) {
            let name = try freeName { name throws(StorageFailure) in
                try writer.makeDurable(
                    name, FileBytes(CheckedCopy.copy(of: bytes)), like: nil, protectedAs: nil, under: writeLock)
            }
            do throws(StorageFailure) {
                try system.synchronizeFolder(writeLock.folder)
            } catch {
                try? system.remove(name, in: writeLock.folder)
                throw error
            }
            return QuarantinedFile(name: name, kind: .lastKnown)
        }
        // Checked before it is opened, because a file that another user planted must not prevent a write.
        guard let planted = try system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false),
            planted.isTrustedCopy(of: owners),
            let (copy, status) = try system.openSidecar(names.lastGood, in: writeLock.folder),
            status.isTrustedCopy(of: owners)
        else { return nil }
        return QuarantinedFile(
            name: try quarantineName(of: names.lastGood, copy, status, under: writeLock), kind: .copy)
    }

    /// The bytes of a state; nil if the last good copy has it or a newer one.
    private func bytesBeyondCopy(
        of lost: FileState, by coder: ContentCoder, _ owners: Set<UInt32>, under writeLock: WriteLock
    ) throws(StorageFailure) -> FileBytes? {
        if case .usable(let copied, _)? = try? copies.lastGoodCopy(of: owners, by: coder, under: writeLock),
            copied.hasContent(of: lost) || copied.changed > lost.changed
        {
            return nil
        }
        if let text = lost.text { return text }
        let content = lost.content ?? [:]
        do {
            // Binary holds more than XML, in fewer bytes.
            return try lost.format.flatMap { try? coder.encoded(content, as: $0, replacing: content) }
                ?? coder.encoded(content, as: .binary, replacing: nil)
        } catch FileError.notStored(let failure) {
            throw failure
        } catch {
            throw StorageFailure(path: names.path, reason: "\(error)")
        }
    }
}

/// What a write has quarantined.
struct QuarantinedFile {
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
