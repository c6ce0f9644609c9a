import Foundation

/// Who a file belongs to and who may use it.
struct Permissions {
    private let owner: UInt32
    private let group: UInt32
    private let mode: UInt32
    /// The file whose access control list and extended attributes are taken over; nil to have none.
    private let attributes: OpenFile?

    static let otherOwner = "belongs to another user, who would lose it"

    /// What a replacement takes over from the file that it replaces.
    static func all(of file: OpenFile, _ status: FileStatus) -> Permissions {
        Permissions(owner: status.owner, group: status.group, mode: status.permissions, attributes: file)
    }

    /// For a copy that only its owner needs: nobody else can read it, also after the file is closed to them later.
    static func owner(of status: FileStatus) -> Permissions {
        Permissions(owner: status.owner, group: status.group, mode: status.permissions & 0o600, attributes: nil)
    }

    /// Gives these to a file that only its owner may use so far. Throws if somebody who had access would lose it, or an
    /// attribute would be lost.
    func apply(to descriptor: SystemCalls.Descriptor, _ system: SystemCalls) throws(StorageFailure) {
        let new = try system.status(of: descriptor)
        var current = new.permissions
        if current & 0o600 != 0o600 {
            // A umask has taken the owner's own access, which what follows needs.
            current = 0o600
            try system.setPermissions(mode_t(current), of: descriptor)
        }
        if new.owner != owner || new.group != group {
            do {
                try system.setOwner(owner, group: group, of: descriptor)
            } catch  where [EPERM, EINVAL].contains(error.code) {
                // EINVAL: the owner or group has no number in this user namespace.
                if new.owner != owner {
                    throw StorageFailure(path: "", reason: Self.otherOwner)
                }
                guard try isSameForEveryGroup(system) else {
                    throw StorageFailure(
                        path: "", reason: "its group cannot be kept, and has other permissions than everybody")
                }
            }
        }
        // Before the mode: with a list, the mode's bits of the group are what the list allows at most.
        try system.copyAttributes(from: attributes?.descriptor, to: descriptor)
        if mode != current { try system.setPermissions(mode_t(mode), of: descriptor) }
    }

    /// Whether nobody gains or loses anything by another owning group.
    private func isSameForEveryGroup(_ system: SystemCalls) throws(StorageFailure) -> Bool {
        guard mode >> 3 & 0o7 == mode & 0o7 else { return false }
        // With a list the bits say nothing of the owning group.
        guard let attributes else { return true }
        return try !system.hasAccessControlList(attributes.descriptor)
    }
}
