package import Foundation
import PrefsPropertyLists

/// What is read in place of a file that is malformed or cannot be read, and whether a write may replace it.
///
/// A read returns the newest known state and leaves the file alone. A write quarantines the bytes first, if the file is ours
/// (`Quarantine`).
package final class Recovery: Sendable {
    private let names: FileNames
    private let system: SystemCalls
    private let cache: FileCache
    private let copies: LastGoodCopies

    init(names: FileNames, system: SystemCalls, cache: FileCache, copies: LastGoodCopies) {
        (self.names, self.system, self.cache, self.copies) = (names, system, cache, copies)
    }

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
        let (state, known) = newest(cache.known, copy)
        let (rules, wasLost) = cache.state.withLock { ($0.rules, $0.lost != nil) }
        // Bytes in the place of a property list are damage.
        let isForPeople =
            bytes.isForPeople && known?.isForPeople ?? true && rules.mirror == nil && !rules.quarantinesMistakes
        let isEmpty = Self.isBlank(bytes.source.bytes.joined)
        let hadValues = known != nil || wasLost
        let isBeingWritten = mayBeWritten && isForPeople && hadValues
        if isEmpty, !isBeingWritten, case .missing = copy {
            let report = MalformedFile(path: names.path, fault: Self.emptied, state: .nothing)
            if isForPeople, hadValues { cache.leaveWarning(.damaged(report), of: bytes.source.status) }
            return FileState(content: nil, from: bytes.source, system: system)
        }
        let source = FileState.Source(
            file: bytes.source.file, status: bytes.source.status, format: known?.format ?? bytes.source.format,
            bytes: bytes.source.bytes, nextStamp: bytes.source.nextStamp)
        let kind: FileState.FaultKind =
            if isBeingWritten {
                .mistake
            } else if isEmpty, copy.isOurs {
                .emptied
            } else if isForPeople, copy.isOurs, !isOfMachine(bytes, copy) {
                .mistake
            } else if copy.isOurs || rules.mirror != nil {
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
            content: known?.content, from: source, malformed: (report, kind), loss: known?.loss,
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

    // MARK: - Known states

    /// The state that this process has learned last. The time of the copy's bytes says whether it knows the copy; the
    /// change time would also show a new mode.
    private func newest(
        _ known: FileState?, _ copy: LastGoodCopy
    ) -> (report: MalformedFile.KnownState, state: FileState?) {
        guard case .usable(let copied, let date) = copy else { return (known == nil ? .nothing : .lastKnown, known) }
        // The copy of a commit is younger than its file, so equal contents count as the known state.
        if let known, known.changed >= copied.changed || known.hasContent(of: copied) {
            return (.lastKnown, known)
        }
        return (.lastGoodCopy(date), copied)
    }

    /// What is known of a file that cannot be read: the last known state, or else the last good copy.
    func knownOfUnreadable(by coder: ContentCoder) -> FileState? {
        if let known = cache.known { return known }
        guard let owner = (try? system.status(ofPath: names.path, followsLinks: false))?.owner,
            case .usable(let known, _)? = try? copies.lastGoodCopy(of: [owner], by: coder, under: nil)
        else { return nil }
        return known
    }

    /// The state that reads return while another program saves the file: what this process has learned last. nil if it
    /// has read nothing.
    func stateDuringSave(by coder: ContentCoder, under writeLock: WriteLock?) -> DomainState? {
        let (known, lastWhole, hasRead) = cache.state.withLock { ($0.known, $0.presence.lastWhole, $0.newest != nil) }
        // The last state is that there was no file.
        guard let known else { return hasRead ? DomainState(nil, format: cache.format, isDuringSave: true) : nil }
        let copyStatus = (try? copies.copyStatus(under: writeLock)) ?? nil
        if let kept = cache.state.withLock({ $0.duringSave }), kept.copy == copyStatus { return kept.state }
        let folder = copyStatus == nil ? nil : try? copies.folderStatus(under: writeLock)
        let copy =
            folder.flatMap { try? copies.lastGoodCopy(of: [geteuid(), $0.owner], by: coder, under: writeLock) }
            ?? .missing
        let new = DomainState(newest(known, copy).state ?? known, revision: Revision(), isDuringSave: true)
        return cache.state.withLock { state in
            // A faster thread may have made it, or has seen the whole file since.
            if let kept = state.duringSave, kept.copy == copyStatus { return kept.state }
            if state.presence.lastWhole == lastWhole { state.duringSave = (copyStatus, new) }
            return new
        }
    }

    // MARK: - Writing

    /// - Throws: the error of a malformed file that a write does not replace.
    func requireWritable(_ state: FileState) throws {
        if let fault = state.fault, let kind = state.faultKind, !cache.rules.replaces(kind) { throw fault }
    }
}

extension FileRules {
    /// Whether a write may quarantine and replace a malformed file.
    func replaces(_ kind: FileState.FaultKind) -> Bool {
        switch kind {
        case .damage, .emptied: true
        case .mistake: replacesMistakes + replacesForeign > 0
        case .foreign: replacesForeign > 0
        }
    }
}
