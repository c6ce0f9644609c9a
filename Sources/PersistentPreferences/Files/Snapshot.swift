import Foundation

/// A committed state of a file: immutable, shared by every reader, and tied to the very file that it was read from by an
/// open descriptor, so that one `fstat` tells whether it is still current.
///
/// What `fstat` cannot tell is that a folder above the file was moved away and another put in its place; a write looks at
/// the path and finds out.
final class Snapshot: @unchecked Sendable {
    typealias Content = Transaction.Content

    /// The file behind a state, as it was when the state was read or written.
    struct Source {
        let file: OpenFile
        let status: FileStatus
        let format: PropertyListFormat
        let bytes: Data
        /// Taken before the bytes were read, or before they got the file's name.
        let time: FileStatus.Time
    }

    /// nil where there is no file.
    let content: Content?
    let revision: Revision
    /// How the file is written; nil where there is none.
    let format: PropertyListFormat?
    let status: FileStatus?
    let file: OpenFile?
    private let system: SystemCalls
    /// The bytes that the content was made from, where the file's times might hide a change of them.
    private let unsettledBytes: Data?

    /// There is no file.
    init(system: SystemCalls) {
        content = nil
        revision = Revision()
        unsettledBytes = nil
        format = nil
        status = nil
        file = nil
        self.system = system
    }

    init(content: Content, from source: Source, system: SystemCalls) {
        self.content = content
        revision = Revision()
        format = source.format
        status = source.status
        file = source.file
        self.system = system
        unsettledBytes = source.status.isSettled(at: source.time) ? nil : source.bytes
    }

    /// The same state, known to have settled.
    private init(settling state: Snapshot) {
        content = state.content
        revision = state.revision
        format = state.format
        status = state.status
        file = state.file
        system = state.system
        unsettledBytes = nil
    }

    /// This, or the same settled, if the file at the path still is what this was read from; nil where it is not. One system
    /// call, but for a file that was changed within the last step of the clock, whose bytes are compared, and for none, whose
    /// path is looked at.
    func validated(atPath path: String) -> Snapshot? {
        guard let file, let status else {
            do {
                return try system.status(ofPath: path, followsLinks: false) == nil ? self : nil
            } catch {
                return nil
            }
        }
        // It may have lost its name to a new file before anybody looked at its status.
        guard status.links > 0, (try? system.status(of: file.descriptor)) == status else { return nil }
        guard let unsettledBytes else { return self }
        let time = system.now()
        guard let found = try? system.readAll(file.descriptor, size: status.size, limit: .max), found == unsettledBytes,
            (try? system.status(of: file.descriptor)) == status
        else { return nil }
        return status.isSettled(at: time) ? Snapshot(settling: self) : self
    }
}
