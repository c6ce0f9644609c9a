import Foundation

/// A committed state of a file: immutable, shared by every reader, and tied to the very file that it was read from by an
/// open descriptor, so that one `fstat` tells whether it is still current.
final class Snapshot: @unchecked Sendable {
    typealias Content = Transaction.Content

    /// nil where there is no file.
    let content: Content?
    /// How the file is written; nil where there is none.
    let format: PropertyListFormat?
    let status: FileStatus?
    /// The damage that stands in the file's place and could not be moved; `content` is then the last good state.
    let damage: DamageReport?
    private let descriptor: SystemCalls.Descriptor?
    private let system: SystemCalls

    private let lock = Lock()
    /// The bytes that the content was made from, as long as the file's times might hide a change of them.
    private var unsettledBytes: Data?

    /// There is no file.
    init(system: SystemCalls) {
        content = nil
        format = nil
        status = nil
        damage = nil
        descriptor = nil
        self.system = system
    }

    /// Takes over the descriptor. `time` was taken before the bytes were read.
    init(
        content: Content?, format: PropertyListFormat?, bytes: Data, status: FileStatus, asOf time: FileStatus.Time,
        descriptor: SystemCalls.Descriptor, damage: DamageReport? = nil, system: SystemCalls
    ) {
        self.content = content
        self.format = format
        self.status = status
        self.damage = damage
        self.descriptor = descriptor
        self.system = system
        unsettledBytes = status.isSettled(at: time) ? nil : bytes
    }

    deinit {
        if let descriptor { system.close(descriptor) }
    }

    /// Whether the file at the path still is what this was read from. One system call, but for a file that was changed
    /// within the last step of the clock, whose bytes are compared, and for none, whose path is looked at.
    func isCurrent(atPath path: String) -> Bool {
        guard let descriptor, let status else {
            do {
                return try system.status(ofPath: path, followsLinks: false) == nil
            } catch {
                return false
            }
        }
        // It may have lost its name to a new file before anybody looked at its status.
        guard status.links > 0, (try? system.status(of: descriptor)) == status else { return false }
        return isSettled(descriptor, status)
    }

    private func isSettled(_ descriptor: SystemCalls.Descriptor, _ status: FileStatus) -> Bool {
        guard let bytes = lock.withLock({ unsettledBytes }) else { return true }
        let time = system.now()
        guard let found = try? system.readAll(descriptor, size: status.size, limit: .max), found == bytes,
            (try? system.status(of: descriptor)) == status
        else { return false }
        if status.isSettled(at: time) { lock.withLock { unsettledBytes = nil } }
        return true
    }
}
