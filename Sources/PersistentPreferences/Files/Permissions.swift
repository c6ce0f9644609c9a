import Foundation

/// Who a file belongs to and who may use it: what a replacement takes over from the file that it replaces.
struct Permissions {
    private let owner: UInt32
    private let group: UInt32
    private let mode: UInt32

    init(_ status: FileStatus) {
        owner = status.owner
        group = status.group
        mode = status.permissions
    }

    private init(owner: UInt32, group: UInt32, mode: UInt32) {
        self.owner = owner
        self.group = group
        self.mode = mode
    }

    /// For the copy that only recovery reads: it may outlive a later restriction of the file.
    var withoutOthers: Permissions {
        Permissions(owner: owner, group: group, mode: mode & ~0o007)
    }

    /// Gives a file these. Throws where somebody who had access would lose it.
    func apply(to descriptor: SystemCalls.Descriptor, _ system: SystemCalls) throws(StorageFailure) {
        let new = try system.status(of: descriptor)
        if new.owner != owner || new.group != group {
            do {
                try system.setOwner(owner, group: group, of: descriptor)
            } catch  where [EPERM, EINVAL].contains(error.code) {
                // EINVAL: the owner or group has no number in this user namespace.
                if new.owner != owner {
                    throw StorageFailure(path: "", reason: "belongs to another user, who would lose it")
                }
                guard mode & 0o070 == 0 else {
                    throw StorageFailure(path: "", reason: "belongs to a group of others, who would lose it")
                }
            }
        }
        if mode != new.permissions { try system.setPermissions(mode_t(mode), of: descriptor) }
    }
}
