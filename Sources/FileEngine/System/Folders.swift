import Foundation
import PrefsPropertyLists

/// Makes and flushes folders, and gives what is made in them to their owners.
package enum Folders {
    static func openOrMake(
        _ path: String, _ system: SystemCalls
    ) throws(StorageFailure) -> SystemCalls.Descriptor {
        do {
            return try system.openFolder(path)
        } catch  where error.code == ENOENT {
            try make(FileNames(path: path), system)
            return try system.openFolder(path)
        }
    }

    /// Makes a folder and those above it, 0700. Its own entry is flushed with the first commit in it.
    package static func make(_ names: FileNames, _ system: SystemCalls) throws(StorageFailure) {
        let parent = FileNames(path: names.folder)
        if names.folder != "/", try system.status(ofPath: names.folder, followsLinks: false) == nil {
            try make(parent, system)
        }
        // Flushes the folder above before anything is created in it, because its creator may have been killed before
        // the flush, and an existing folder is not flushed later.
        try flush(parent.folder, system)
        do {
            let isMade = try system.withFolder(of: names) { folder, name throws(StorageFailure) in
                try makeOne(name, in: folder, system)
            }
            if isMade, geteuid() == 0 { try giveToOwnerOfFolder(names, system) }
        } catch {
            throw error.at(names.path)
        }
    }

    /// Flushes a folder, so that new entries survive a power cut.
    static func flush(_ path: String, _ system: SystemCalls) throws(StorageFailure) {
        let folder: OpenFile
        do {
            folder = OpenFile(try system.openFolder(path), system)
        } catch  where error.code == EACCES || error.code == EPERM {
            // A folder that cannot be read, or that is outside of the sandbox, cannot be flushed.
            return
        }
        do {
            try system.synchronizeFolder(folder.descriptor)
        } catch {
            throw error.at(path)
        }
    }

    /// - Returns: false if another process was faster.
    private static func makeOne(
        _ name: String, in folder: SystemCalls.Descriptor, _ system: SystemCalls
    ) throws(StorageFailure) -> Bool {
        do {
            try system.makeFolder(name, in: folder, mode: 0o700)
        } catch  where error.code == EEXIST {
            return false
        }
        // A umask may remove the owner's access.
        if let made = try system.status(ofPath: name, in: folder, followsLinks: false), made.kind == .folder,
            made.permissions & 0o700 != 0o700
        {
            try system.setPermissions(mode_t(made.permissions | 0o700), ofPath: name, in: folder)
        }
        return true
    }

    // MARK: - Owners

    /// Gives a file that root creates in a user's folder to that user, so that `sudo` does not lock users out of their
    /// own settings.
    static func giveToOwner(
        of folder: SystemCalls.Descriptor, _ descriptor: SystemCalls.Descriptor, isFolder: Bool = false,
        _ system: SystemCalls
    ) throws(StorageFailure) {
        guard geteuid() == 0 else { return }
        let (parent, own) = (try system.status(of: folder), try system.status(of: descriptor))
        // In a folder that everybody may write to (/tmp), a file belongs to its creator.
        guard own.owner == 0, parent.owner != 0, parent.permissions & 0o002 == 0 else { return }
        // The owner of the parent folder may have replaced the new folder with another folder of root.
        if isFolder, try system.names(in: descriptor).count > 2 {
            throw StorageFailure(path: "", reason: "was replaced by another folder")
        }
        do {
            try system.setOwner(parent.owner, group: parent.group, of: descriptor)
        } catch  where Permissions.hasNoNumber(error) {
            // The root of a user namespace may use the folder all the same.
        }
    }

    private static func giveToOwnerOfFolder(_ names: FileNames, _ system: SystemCalls) throws(StorageFailure) {
        let above = OpenFile(try system.openFolder(names.folder), system)
        let made = OpenFile(try system.openFolder(names.file, in: above.descriptor, O_RDONLY), system)
        try giveToOwner(of: above.descriptor, made.descriptor, isFolder: true, system)
    }
}
