import Foundation

/// The owner of a file and its permissions.
package struct Permissions {
    private let owner: UInt32
    private let group: UInt32
    let mode: UInt32
    /// The permissions that others may have if the file system refuses to set the mode.
    private let most: UInt32
    /// The file whose access control list and extended attributes are copied; nil copies nothing.
    private let attributes: OpenFile?

    static let otherOwner = "belongs to another user; a write would change its owner"

    /// The permissions that a replacement copies from the file that it replaces.
    package static func all(of file: OpenFile, _ status: FileStatus) -> Permissions {
        let mode = status.permissions
        return Permissions(owner: status.owner, group: status.group, mode: mode, most: mode, attributes: file)
    }

    /// The permissions of a copy that only its owner may read, even if others may read the file now, because that may
    /// change.
    static func owner(of status: FileStatus) -> Permissions {
        let mode = status.permissions
        return Permissions(owner: status.owner, group: status.group, mode: mode & 0o600, most: mode, attributes: nil)
    }

    /// Gives the permissions to a file that only its owner may use so far. Throws if the owner or an attribute cannot
    /// be kept, or if another group would change who has access.
    ///
    /// - Parameter new: the status of that file.
    package func apply(
        to descriptor: SystemCalls.Descriptor, _ new: FileStatus, _ system: SystemCalls
    ) throws(StorageFailure) {
        var current = new.permissions
        if current & 0o600 != 0o600 {
            // A umask has removed the owner's access, which the next calls need.
            current = 0o600
            try Self.set(current, of: descriptor, system)
        }
        if new.owner != owner || new.group != group {
            do {
                try system.setOwner(owner, group: group, of: descriptor)
            } catch  where error.code == EPERM || Self.hasNoNumber(error) {
                if new.owner != owner {
                    throw StorageFailure(path: "", reason: Self.otherOwner)
                }
                guard try isSameForEveryGroup(system) else {
                    throw StorageFailure(
                        path: "", reason: "its group cannot be kept, and another group would change who has access")
                }
            }
        }
        // Set before the mode, because with an access control list the group bits of the mode are the mask of the list.
        try system.copyAttributes(from: attributes?.descriptor, to: descriptor)
        if mode != current { try Self.set(mode, orAtMost: most, of: descriptor, system) }
    }

    /// Whether an owner or a group has no number in this user namespace (EINVAL), or on this mount (EOVERFLOW).
    static func hasNoNumber(_ failure: StorageFailure) -> Bool { [EINVAL, EOVERFLOW].contains(failure.code) }

    /// Sets the mode. Some servers and file systems in user space refuse every `chmod`. There, accepts the mode that the
    /// file has, unless it gives other users more than `most`.
    ///
    /// A file system of this machine that has made the file for its owner alone, as it was asked, keeps modes. There a filter
    /// of the process refuses the call. Throws, because a replacement would close the file to others without a word.
    ///
    /// - Parameter most: nil for `mode`.
    package static func set(
        _ mode: UInt32, orAtMost most: UInt32? = nil, of descriptor: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) {
        do {
            try system.setPermissions(mode, of: descriptor)
        } catch  where [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(error.code) {
            let found = try system.status(of: descriptor).permissions
            guard found & 0o7077 & ~(most ?? mode) == 0 else { throw error }
            if found & ~0o600 != 0 || system.fileSystem(of: descriptor).isOnServer { return }
            let octal = String(mode, radix: 8)
            throw StorageFailure(
                path: "",
                reason:
                    "its mode cannot be set to 0\(octal): \(error.reason); a filter of the process may refuse chmod",
                code: error.code)
        }
    }

    /// Whether another owning group would leave everybody's access unchanged.
    private func isSameForEveryGroup(_ system: SystemCalls) throws(StorageFailure) -> Bool {
        guard mode >> 3 & 0o7 == mode & 0o7 else { return false }
        // With an access control list, the group bits are its mask and not the permissions of the owning group.
        guard let attributes else { return true }
        return try !system.hasAccessControlList(attributes.descriptor)
    }
}
