import Foundation

@testable import PersistentPreferences

/// Lets something happen right before the n-th call.
final class Exchanging: SystemCalls, @unchecked Sendable {
    private nonisolated(unsafe) var remaining = -1
    private nonisolated(unsafe) var exchange: () -> Void = {}
    private(set) nonisolated(unsafe) var hasExchanged = false

    func begin(at number: Int, _ exchange: @escaping () -> Void) {
        remaining = number
        self.exchange = exchange
    }

    private func step() {
        if remaining == 0 {
            exchange()
            hasExchanged = true
        }
        remaining -= 1
    }

    override func open(
        _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
    ) throws(StorageFailure) -> Descriptor {
        step()
        return try super.open(name, in: folder, flags, mode: mode)
    }

    override func close(_ descriptor: Descriptor) {
        step()
        super.close(descriptor)
    }

    override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
        step()
        return try super.status(of: descriptor)
    }

    override func status(
        ofPath name: String, in folder: Descriptor, followsLinks: Bool
    ) throws(StorageFailure) -> FileStatus? {
        step()
        return try super.status(ofPath: name, in: folder, followsLinks: followsLinks)
    }

    override func read(
        _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int {
        step()
        return try super.read(descriptor, into: buffer, at: offset)
    }

    override func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Descriptor) throws(StorageFailure) -> Int {
        step()
        return try super.write(bytes, to: descriptor)
    }

    override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
        step()
    }

    override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        step()
        try super.rename(name, to: newName, in: folder)
    }

    override func remove(_ name: String, in folder: Descriptor) throws(StorageFailure) {
        step()
        try super.remove(name, in: folder)
    }

    override func setPermissions(_ mode: mode_t, of descriptor: Descriptor) throws(StorageFailure) {
        step()
        try super.setPermissions(mode, of: descriptor)
    }

    override func setOwner(_ owner: uid_t, group: gid_t, of descriptor: Descriptor) throws(StorageFailure) {
        step()
        try super.setOwner(owner, group: group, of: descriptor)
    }

    override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
        step()
        try super.lock(descriptor, waits: waits)
    }

    override func unlock(_ descriptor: Descriptor) {
        step()
        super.unlock(descriptor)
    }

    override func physicalPath(_ path: String) throws(StorageFailure) -> String? {
        step()
        return try super.physicalPath(path)
    }
}
