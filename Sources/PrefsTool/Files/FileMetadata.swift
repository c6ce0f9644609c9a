import Foundation
import PersistentPreferences
import PrefsFileEngine

/// The metadata of a file or folder. Does not open it, and does not follow links.
struct FileMetadata {
    let type: FileAttributeType
    let size: Int
    let modified: Date
    let mode: Int
    let ownerID: Int
    private let owner: String
    private let group: String
    /// The number of names (hard links).
    let links: Int
    let device: Int
    let inode: Int

    /// Returns nil if the file does not exist or its metadata cannot be read.
    init?(_ path: String) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        func number(_ key: FileAttributeKey) -> Int { (attributes[key] as? NSNumber)?.intValue ?? 0 }
        type = attributes[.type] as? FileAttributeType ?? .typeUnknown
        size = number(.size)
        modified = attributes[.modificationDate] as? Date ?? .distantPast
        mode = number(.posixPermissions)
        ownerID = number(.ownerAccountID)
        owner = attributes[.ownerAccountName] as? String ?? "\(number(.ownerAccountID))"
        group = attributes[.groupOwnerAccountName] as? String ?? "\(number(.groupOwnerAccountID))"
        links = number(.referenceCount)
        device = number(.systemNumber)
        inode = number(.systemFileNumber)
    }

    var isFile: Bool { type == .typeRegular }
    var isFolder: Bool { type == .typeDirectory }
    var isDevice: Bool { type == .typeCharacterSpecial || type == .typeBlockSpecial }
    var isOwn: Bool { ownerID == Int(geteuid()) }

    /// `0600 owner:group`
    var permissions: String {
        let octal = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - octal.count)) + octal + " \(owner):\(group)"
    }

    /// `1234 bytes, of 2026-11-21T08:30:00Z`
    var sizeAndTime: String { "\(ValueText.count(size, "byte")), of \(JSONText.date(modified))" }
}

/// A mount that this process sees, as Linux lists it; there are none on other systems.
struct Mount {
    let place: [UInt8]
    /// The name of the file system, such as `nfs4` or `fuse.sshfs`.
    let type: String
    /// Of the file system, such as `rw` or `local_lock=none`.
    let options: Set<String>

    static var all: [Mount] {
        guard let list = SystemCalls.processFile("/proc/self/mountinfo") else { return [] }
        return list.split(separator: 0x0A).compactMap { line in
            // The fifth word is the place. The type comes after a lone dash, behind words whose number varies.
            let words = line.split(separator: 0x20)
            guard words.count > 6, let dash = words.dropFirst(6).firstIndex(where: { $0.elementsEqual("-".utf8) }),
                dash + 1 < words.count
            else { return nil }
            // Behind the type are the source and the options.
            let options = words.dropFirst(dash + 3).first.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return Mount(
                place: unescaped(words[4]), type: String(decoding: words[dash + 1], as: UTF8.self),
                options: Set(options.split(separator: ",").map(String.init)))
        }
    }

    /// Blanks, line ends and backslashes are octal numbers, such as `\\040`.
    private static func unescaped(_ word: Data) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), word[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Whether this is the mount of a physical path, or one above it.
    func covers(_ path: String) -> Bool {
        let path = Array(path.utf8)
        return place == [UInt8(ascii: "/")]
            || path.starts(with: place) && (path.count == place.count || path[place.count] == UInt8(ascii: "/"))
    }
}

/// The access rights of the current user. Follows links.
struct Access {
    let reads: Bool
    let writes: Bool
    /// True if names in the folder may be looked up.
    let searches: Bool
    /// True if the file is on a read-only volume.
    let isOnReadOnlyVolume: Bool
    /// True if the immutable flag forbids writing, also to the superuser.
    let isImmutable: Bool
    /// True if the volume has no room for another file of this user.
    let isOnFullVolume: Bool
    /// True if the volume has no number (inode) for another file. rclone says so of every volume.
    let hasNoFileNumber: Bool

    init(_ path: String) {
        func may(_ mode: Int32) -> Bool { faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 }
        reads = may(R_OK)
        searches = may(X_OK)
        writes = may(W_OK)
        let code = errno
        isOnReadOnlyVolume = !writes && code == EROFS
        isImmutable = !writes && code == EPERM
        var volume = statvfs()
        let isKnown = statvfs(path, &volume) == 0
        // Some file systems do not count their blocks or files.
        isOnFullVolume = isKnown && volume.f_blocks > 0 && (geteuid() == 0 ? volume.f_bfree : volume.f_bavail) == 0
        hasNoFileNumber = isKnown && volume.f_files > 0 && volume.f_ffree == 0
    }

    /// "you may read and write it"
    var text: String {
        let rights = [reads ? "read" : nil, writes ? "write" : nil].compactMap { $0 }.joined(separator: " and ")
        return "you may \(rights.isEmpty ? "neither read nor write" : rights) it"
    }
}

/// The physical path of a file, and the paths of the files that the engine keeps beside it. The files need not exist.
/// Changes nothing.
struct SidecarPaths: Sendable {
    /// Absolute, without links.
    let file: String
    let folder: String
    let lock: String
    let temporary: String
    let lastGood: String
    /// The quarantined files, sorted by name and so by time; nil if the folder cannot be listed.
    let quarantined: [String]?

    /// - Parameter path: absolute.
    init(path: String) throws(StorageFailure) {
        let names = FileNames(path: try PathResolution(path, system: .real).target)
        file = names.path
        folder = names.folder
        lock = names.path(of: names.lock)
        temporary = names.path(of: names.temporary)
        lastGood = names.path(of: names.lastGood)
        let prefix = "\(names.file).corrupt-"
        do {
            let all = try FileManager.default.contentsOfDirectory(atPath: names.folder)
            quarantined = all.filter { $0.utf8.starts(with: prefix.utf8) }.sorted().map(names.path(of:))
        } catch {
            quarantined = FileManager.default.fileExists(atPath: names.folder) ? nil : []
        }
    }

    /// The folder of an absolute path, without following links.
    static func folder(of path: String) -> String { FileNames(path: path).folder }

    /// Why the name of the file leaves no room for the names of recovery, so that writes are rejected; nil if it leaves
    /// room.
    var nameProblem: String? {
        do {
            try FileNames(path: file).checkRoomForWriting()
            return nil
        } catch {
            return error.reason
        }
    }

    /// Runs the closure with the lock file, open and not locked; nil if it does not exist.
    ///
    /// - Throws: the reason why writers cannot use it.
    func withLockFile<R>(_ body: (Int32) -> R) throws(StorageFailure) -> R? {
        let (system, names) = (SystemCalls.real, FileNames(path: file))
        let file: OpenFile?
        do throws(StorageFailure) {
            let folder = OpenFile(try system.openFolder(names.folder), system)
            file = try WriteLock.openLockFile(of: names, in: folder.descriptor, creates: false, system)?.0
        } catch {
            if [ENOENT, ENOTDIR].contains(error.code) { return nil }
            throw error
        }
        return file.map { body($0.descriptor) }
    }

    /// The path of a suite's file; nil if the suite has no file.
    ///
    /// - Throws: `PrefsError`.
    static func path(ofSuite name: String) throws -> String? {
        try Roots.ofSuite(name).fileURL?.path(percentEncoded: false)
    }
}
