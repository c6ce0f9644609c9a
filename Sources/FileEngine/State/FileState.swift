import Foundation
import PrefsPropertyLists

/// The state of a file at one moment: immutable, and shared by all who have it. A state that was read or written keeps its
/// file open, so one `fstat` shows whether it is still current. A malformed file is kept open, too, so its repeated reads cost no
/// more than reads of a good file. On a server, no file is kept open; it is opened anew for each of these questions. A state
/// that is remembered, or that a last good copy has, has no file.
///
/// `fstat` does not show that a folder above the file was replaced by another one. A write resolves the path and finds
/// out.
final class FileState: Sendable {
    /// The file behind a state, with its status when the state was read or written.
    struct Source {
        let file: OpenFile
        let status: FileStatus
        /// The format; nil for bytes of no known format.
        let format: FileFormat?
        let bytes: FileBytes
        /// The earliest stamp of a change that is made after the bytes were read, or after they got the file's name.
        let nextStamp: FileStatus.Time
        /// nil if it is unknown.
        var volume: Volume?
    }

    /// What a malformed file is. Decides whether a write may replace it.
    enum FaultKind {
        /// A machine has damaged a file that this package or UserDefaults has written, or the stores on the file count each
        /// fault as such. A write quarantines it.
        case damage
        /// A crash has left no bytes. A write starts from the last good copy, and keeps it.
        case emptied
        /// A person has left the file malformed, or a program is writing it. It is neither moved nor replaced, unless a
        /// caller asks for that (`FileRules.replacesMistakes`).
        case mistake
        /// Neither this package nor UserDefaults has written the file. It is neither moved nor replaced.
        case foreign
    }

    /// The content; nil if the file is missing or empty. For a malformed file, the newest known state.
    let content: DomainContent?
    /// Why the file is malformed: `FileError.damaged` or `.notOurs`; nil for a good file.
    let fault: FileError?
    /// nil for a good file.
    let faultKind: FaultKind?
    /// Why a write would lose an entry of the file; nil if it would lose nothing.
    let loss: String?
    let revision: Revision
    /// The format of the file; nil if it is missing or empty.
    let format: FileFormat?
    /// The bytes of the content: a text that people write, from which the next commit takes over what it does not change,
    /// or a file that this process has written, because bytes are compared faster than their checksum is computed. nil
    /// for other files. For a malformed file, the bytes of its known state.
    let sourceBytes: FileBytes?
    /// The change time of the file; of a last good copy, the time of its bytes; 1970 if there is no file.
    let changed: FileStatus.Time
    /// When the state ends although the file does not change, by the monotonic clock; nil if it does not end.
    let expiresAt: Duration?
    /// The status of the file that it was read from or written to; nil for a missing file, for a last good copy, and for what
    /// is remembered.
    let status: FileStatus?
    /// That file, open; nil on a server, too.
    let file: OpenFile?
    let volume: Volume
    /// When the state was read, by the monotonic clock; nil if the file is kept open.
    private let readAt: Duration?
    /// The checksum of the bytes of the file; 0 if it is missing.
    let checksum: UInt64
    /// Whether every later change of the bytes shows in the times of the file.
    private let hasReliableTimes: Bool
    /// The descriptor of the open file, if its status alone shows whether the state is current. Not for a state that ends, nor
    /// for a file without a name, which may have been replaced before its status was read.
    private let fastPathDescriptor: SystemCalls.Descriptor?
    private let system: SystemCalls

    /// What shows that a file is still the same.
    private struct Origin {
        /// nil on a server.
        let file: OpenFile?
        let status: FileStatus
        var volume = Volume.local
        var readAt: Duration?
        var checksum: UInt64 = 0
        var hasReliableTimes = true
    }

    @inline(__always) private init(
        content: DomainContent?, format: FileFormat?, loss: String?, sourceBytes: FileBytes?,
        changed: FileStatus.Time, revision: Revision, fault: FileError? = nil, faultKind: FaultKind? = nil,
        expiresAt: Duration? = nil, origin: Origin? = nil, system: SystemCalls
    ) {
        (self.content, self.format, self.loss, self.sourceBytes) = (content, format, loss, sourceBytes)
        (self.changed, self.revision, self.expiresAt) = (changed, revision, expiresAt)
        (self.fault, self.faultKind, self.system) = (fault, faultKind, system)
        (file, status, readAt) = (origin?.file, origin?.status, origin?.readAt)
        (volume, checksum) = (origin?.volume ?? .local, origin?.checksum ?? 0)
        hasReliableTimes = origin?.hasReliableTimes ?? true
        let isShown = hasReliableTimes && volume.openFilesShowReplacement && expiresAt == nil && status?.links ?? 0 > 0
        fastPathDescriptor = isShown ? file?.descriptor : nil
    }

    /// Creates the state of a missing file.
    convenience init(system: SystemCalls) {
        self.init(
            content: nil, format: nil, loss: nil, sourceBytes: nil,
            changed: FileStatus.Time(seconds: 0, nanoseconds: 0), revision: Revision(), system: system)
    }

    /// Creates the state of a file that was read or written.
    @inline(never) convenience init(
        content: DomainContent?, from source: Source, malformed fault: (file: MalformedFile, kind: FaultKind)? = nil,
        loss: String? = nil, sourceBytes: FileBytes? = nil, expiresAt: Duration? = nil, system: SystemCalls
    ) {
        let volume = source.volume ?? Volume(of: source.file.descriptor, system)
        let readAt = volume.keepsFiles ? nil : system.monotonicNow()
        if !volume.keepsFiles { source.file.close() }
        let origin = Origin(
            file: volume.keepsFiles ? source.file : nil, status: source.status, volume: volume, readAt: readAt,
            checksum: CheckedCopy.checksum(source.bytes),
            hasReliableTimes: volume.tellsFilesApart && source.status.hasReliableTimes(before: source.nextStamp))
        self.init(
            content: content, format: source.format, loss: loss, sourceBytes: sourceBytes,
            changed: source.status.changed, revision: Revision(),
            fault: fault.map { $0.kind == .foreign ? .notOurs($0.file) : .damaged($0.file) }, faultKind: fault?.kind,
            expiresAt: expiresAt, origin: origin, system: system)
    }

    /// Creates a state that has no file of its own.
    ///
    /// - Parameters:
    ///   - text: the bytes, if people write the format.
    ///   - changed: see `changed`.
    convenience init(
        remembered content: DomainContent, format: FileFormat?, loss: String?, text: FileBytes?,
        changed: FileStatus.Time, system: SystemCalls
    ) {
        self.init(
            content: content, format: format, loss: loss, sourceBytes: text, changed: changed, revision: Revision(),
            system: system)
    }

    /// The state without its file, to be remembered when the file is another one; nil if there is no content.
    var remembered: FileState? {
        content == nil
            ? nil
            : FileState(
                content: content, format: format, loss: loss, sourceBytes: text, changed: changed, revision: revision,
                system: system)
    }

    /// A copy of this state that is with reliable times.
    private var withReliableTimes: FileState {
        let origin = status.map { Origin(file: file, status: $0, volume: volume, readAt: readAt, checksum: checksum) }
        return FileState(
            content: content, format: format, loss: loss, sourceBytes: sourceBytes, changed: changed,
            revision: revision, fault: fault, faultKind: faultKind, expiresAt: expiresAt, origin: origin, system: system
        )
    }

    /// Whether both have equal contents, or none.
    func hasContent(of other: FileState) -> Bool {
        guard let content, let others = other.content else { return content == nil && other.content == nil }
        return content.isEqual(to: others)
    }

    /// Whether people write the format.
    var isForPeople: Bool { format?.coder.isForPeople == true }

    /// The bytes of the content, if people write the format.
    var text: FileBytes? { isForPeople ? sourceBytes : nil }

    private var hasEnded: Bool { expiresAt.map { system.monotonicNow() >= $0 } ?? false }

    /// Returns this state, or a copy of it with reliable times. Returns nil if the file at the path is not the one that
    /// was read.
    ///
    /// Costs one system call: an `fstat` of the open file, or a `stat` of the path if there was no file or if the open
    /// file may not show that it was replaced. On a server, the file is opened anew. If the file changed within the last
    /// step of the clock, its bytes are compared, too.
    func validated(atPath path: String) -> FileState? {
        if let fastPathDescriptor {
            if let now = try? system.status(of: fastPathDescriptor), now == status { return self }
            // The file may get the same number when it is opened again.
            _ = file?.isIntact
            return nil
        }
        guard let status else {
            do {
                return try system.status(ofPath: path, followsLinks: false) == nil ? self : nil
            } catch {
                return nil
            }
        }
        if hasEnded { return nil }
        // The file may have been replaced before its status was read.
        guard status.links > 0 else { return nil }
        guard let file else { return validatedByName(FileNames(path: path)) }
        let asksFile = volume.openFilesShowReplacement
        let now =
            asksFile ? try? system.status(of: file.descriptor) : try? system.status(ofPath: path, followsLinks: false)
        guard now == status, asksFile || file.isIntact else {
            _ = file.isIntact
            return nil
        }
        return hasReliableTimes ? self : comparingBytes(of: file)
    }

    /// Returns this state, or a copy of it with reliable times, if the file that has the name now is the one that was read.
    /// Returns nil in other cases.
    ///
    /// The bytes are compared until three seconds after the file was read, and once more. A change may not show in stamps of
    /// whole seconds, whatever the clock of the server; after that, each change shows.
    private func validatedByName(_ names: FileNames) -> FileState? {
        let time = system.monotonicNow()
        guard let (fresh, now) = try? volume.open(names, .call, system), now == status else { return nil }
        if hasReliableTimes { return self }
        guard hasBytes(of: fresh) else { return nil }
        return readAt.map { time - $0 > .seconds(3) } ?? false ? withReliableTimes : self
    }

    /// Whether a file has the bytes of this state.
    @inline(never) func hasBytes(of file: OpenFile) -> Bool {
        guard let status,
            let found = try? volume.bytes(of: file, size: status.size, limit: .max, system)
        else { return false }
        return (fault == nil ? sourceBytes : nil).map({ $0.hasSameBytes(as: found) })
            ?? (CheckedCopy.checksum(FileBytes(found)) == checksum)
    }

    /// Whether the open file has the bytes that were read, if its times may not show a change. The caller has
    /// asked whether the descriptor is intact.
    var hasBytesBehindTimes: Bool {
        guard !hasReliableTimes, let file, !file.hasEnded else { return false }
        return hasBytes(of: file)
    }

    /// Returns this state, or a copy of it with reliable times, if its open file still has the bytes that were read.
    /// Returns nil in other cases. No look is needed after that: a change during the comparison would be one after it.
    private func comparingBytes(of file: OpenFile) -> FileState? {
        let nextStamp = system.nextStamp()
        guard hasBytes(of: file) else { return nil }
        return status?.hasReliableTimes(before: nextStamp) == true ? withReliableTimes : self
    }

    /// Returns this state, or a copy of it with reliable times, if its open file still has the bytes that were read.
    /// Returns nil in other cases.
    ///
    /// - Parameters:
    ///   - there: the current status of the file. If it differs, or if the times may not show a change, the bytes decide,
    ///     because a change of the mode, a new link, an attribute and a backup change the times, too.
    ///   - hasBytes: whether the file had the bytes just before it had that status.
    func validated(at there: FileStatus, hasBytes: Bool = false) -> FileState? {
        guard let file, let status, status.isSameFile(as: there), status.size == there.size, !hasEnded else {
            return nil
        }
        if hasReliableTimes || hasBytes, status == there { return self }
        guard let state = comparingBytes(of: file), let now = try? system.status(of: file.descriptor) else {
            return nil
        }
        // A library may fake the times of `fstat`, and not those by the path: libfaketime does. The file is then compared
        // with what `fstat` has shown before.
        guard now == there || now == status else { return nil }
        return status == there ? state : self
    }
}
