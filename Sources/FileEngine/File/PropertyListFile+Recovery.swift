package import Foundation
import PrefsPropertyLists

/// Malformed files. A read returns the newest known state and leaves the file alone; a write quarantines the bytes
/// first, if the file is ours.
extension PropertyListFile {
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
    ) -> FileState {
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
            return FileState(content: nil, from: bytes.source, system: system)
        }
        let source = FileState.Source(
            file: bytes.source.file, status: bytes.source.status, format: known?.format ?? bytes.source.format,
            bytes: bytes.source.bytes, nextStamp: bytes.source.nextStamp)
        let kind: FileState.Fault.Kind =
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
        return FileState(
            content: known?.content, from: source, fault: FileState.Fault(report: report, kind), loss: known?.loss,
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
    func knownOfUnreadable() -> FileState? {
        if let knownState { return knownState }
        guard let owner = (try? system.status(ofPath: names.path, followsLinks: false))?.owner,
            case .usable(let known, _)? = try? copies.lastGoodCopy(of: [owner], by: coder, under: nil)
        else { return nil }
        return known
    }

    /// The state that this process has learned last. The time of the copy's bytes says whether it knows the copy; the
    /// change time would also show a new mode.
    func newest(
        _ known: FileState?, _ copy: LastGoodCopy
    ) -> (report: MalformedFile.KnownState, state: FileState?) {
        guard case .usable(let copied, let date) = copy else { return (known == nil ? .nothing : .lastKnown, known) }
        // The copy of a commit is younger than its file, so equal contents count as the known state.
        if let known, known.changed >= copied.changed || known.hasContent(of: copied) {
            return (.lastKnown, known)
        }
        return (.lastGoodCopy(date), copied)
    }

    /// Leaves the warning that a write has quarantined the file, or what was known of a missing or empty one.
    func warn(of quarantine: QuarantinedFile, _ base: FileState, under writeLock: WriteLock) {
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
}
