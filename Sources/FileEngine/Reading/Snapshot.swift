import Foundation
import PrefsPropertyLists

/// The state of a file: immutable and shared by all readers. It keeps the file that it was read from open, so one
/// `fstat` shows whether it is still current. A malformed file is kept open, too, so its repeated reads cost no more
/// than reads of a good file.
///
/// `fstat` does not show that a folder above the file was replaced by another one. A write resolves the path and finds
/// out.
final class Snapshot: Sendable {
    typealias Content = Transaction.Content

    /// The file behind a state, with its status when the state was read or written.
    struct Source {
        let file: OpenFile
        let status: FileStatus
        /// The format; nil for bytes of no known format.
        let format: FileFormat?
        let bytes: Data
        /// The time before the bytes were read, or before they got the file's name.
        let time: FileStatus.Time
        /// The value for a file on this device; nil if unknown.
        var tellsOfReplacement: Bool?
    }

    /// Why a file is malformed. A class, because every read asks whether there is one.
    final class Fault: Sendable {
        let report: MalformedFile
        /// Whether this package or UserDefaults has written the file. Only then a write replaces it.
        let isOurs: Bool

        init(report: MalformedFile, isOurs: Bool) {
            self.report = report
            self.isOurs = isOurs
        }

        var error: FileError { isOurs ? .damaged(report) : .notOurs(report) }
    }

    /// The content; nil if the file is missing or empty. For a malformed file, the newest known state.
    let content: Content?
    /// The fault; nil for a good file.
    let fault: Fault?
    /// Why a write would lose an entry of the file; nil if it would lose nothing.
    let loss: String?
    let revision: Revision
    /// The format of the file; nil if it is missing or empty.
    let format: FileFormat?
    /// The accepted form of the values.
    let form: ValueForm
    let status: FileStatus?
    let file: OpenFile?
    private let system: SystemCalls
    /// Whether the status of the open file shows that another file has taken its name.
    let tellsOfReplacement: Bool
    /// The bytes of the file, if this process has written them as a binary property list of the content. The next
    /// commit takes over the objects that it does not change. The bytes are smaller than the content.
    let written: Data?
    /// The checksum of the bytes of the file; 0 if it is missing.
    let checksum: UInt64
    /// Whether every later change of the bytes shows in the times of the file.
    private let isSettled: Bool

    /// Creates the state of a missing file.
    init(system: SystemCalls) {
        content = nil
        (fault, loss, written) = (nil, nil, nil)
        revision = Revision()
        (checksum, isSettled) = (0, true)
        (format, form) = (nil, .exact)
        status = nil
        file = nil
        tellsOfReplacement = true
        self.system = system
    }

    /// Creates a state that is read for a moment in place of a missing file. It is never published.
    init(inPlaceOfMissing content: Content, format: FileFormat?, loss: String?, system: SystemCalls) {
        self.content = content
        self.loss = loss
        self.format = format
        form = format?.form ?? .exact
        self.system = system
        (fault, written) = (nil, nil)
        revision = Revision()
        (checksum, isSettled) = (0, true)
        (status, file) = (nil, nil)
        tellsOfReplacement = true
    }

    init(
        content: Content?, from source: Source, fault: Fault? = nil, loss: String? = nil, written: Data? = nil,
        system: SystemCalls
    ) {
        self.content = content
        self.fault = fault
        self.loss = loss
        self.written = written
        revision = Revision()
        format = source.format
        form = format?.form ?? .exact
        status = source.status
        file = source.file
        tellsOfReplacement = source.tellsOfReplacement ?? system.tellsOfReplacement(source.file.descriptor)
        self.system = system
        checksum = CheckedCopy.checksum(source.bytes)
        isSettled = source.status.isSettled(at: source.time)
    }

    /// Creates a copy of a state that is marked as settled.
    private init(settling state: Snapshot) {
        content = state.content
        (fault, loss, written) = (state.fault, state.loss, state.written)
        revision = state.revision
        (format, form) = (state.format, state.form)
        status = state.status
        file = state.file
        tellsOfReplacement = state.tellsOfReplacement
        system = state.system
        (checksum, isSettled) = (state.checksum, true)
    }

    /// Returns this state, or a copy of it marked as settled. Returns nil if the file at the path is not the one that
    /// was read.
    ///
    /// Costs one system call: an `fstat` of the open file, or a `stat` of the path if there was no file or if the open
    /// file may not show that it was replaced. If the file changed within the last step of the clock, its bytes are
    /// compared, too.
    func validated(atPath path: String) -> Snapshot? {
        guard let file, let status else {
            do {
                return try system.status(ofPath: path, followsLinks: false) == nil ? self : nil
            } catch {
                return nil
            }
        }
        // The file may have been replaced before its status was read.
        guard status.links > 0 else { return nil }
        let now =
            tellsOfReplacement
            ? try? system.status(of: file.descriptor) : try? system.status(ofPath: path, followsLinks: false)
        guard now == status, tellsOfReplacement || file.isIntact else {
            // The file may get the same number when it is opened again.
            _ = file.isIntact
            return nil
        }
        return isSettled ? self : validated(at: status)
    }

    /// Returns this state, or a copy of it marked as settled, if its open file still has the bytes that were read.
    /// Returns nil in other cases.
    ///
    /// - Parameter there: the current status of the file. If it differs, or if the times may not show a change, the
    ///   bytes decide, because a change of the mode, a new link, an attribute and a backup change the times, too.
    func validated(at there: FileStatus) -> Snapshot? {
        guard let file, let status, status.isSameFile(as: there), status.size == there.size else { return nil }
        if isSettled, status == there { return self }
        let time = system.now()
        guard let found = try? system.readAll(file.descriptor, size: status.size, limit: .max),
            written.map({ $0 == found }) ?? (CheckedCopy.checksum(found) == checksum),
            (try? system.status(of: file.descriptor)) == there
        else { return nil }
        return status == there && status.isSettled(at: time) ? Snapshot(settling: self) : self
    }
}
