import Foundation

/// The metadata of a file or folder. Does not open it, and does not follow links.
struct FileMetadata {
    let type: FileAttributeType
    let size: Int
    let modified: Date
    let mode: Int
    let ownerID: Int
    private let owner: String
    private let group: String
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
    var sizeAndTime: String { "\(FileInspection.count(size, "byte")), of \(JSONText.date(modified))" }
}

/// The mounts that this process sees, as Linux lists them; none on other systems.
enum Mounts {
    /// Whether something is mounted at a physical path.
    static func contains(_ path: String) -> Bool {
        guard let list = try? Data(contentsOf: URL(filePath: "/proc/self/mountinfo")) else { return false }
        // Blanks, line ends and backslashes are octal numbers there.
        let name = path.utf8.flatMap { byte -> [UInt8] in
            guard [0x09, 0x0A, 0x20, 0x5C].contains(byte) else { return [byte] }
            return [UInt8(ascii: "\\")] + [byte >> 6, byte >> 3 & 7, byte & 7].map { UInt8(ascii: "0") + $0 }
        }
        return list.split(separator: 0x0A).contains { line in
            // The fifth word is the place of the mount.
            line.split(separator: 0x20, maxSplits: 5).dropFirst(4).first?.elementsEqual(name) == true
        }
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

    init(_ path: String) {
        func may(_ mode: Int32) -> Bool { faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 }
        reads = may(R_OK)
        searches = may(X_OK)
        writes = may(W_OK)
        isOnReadOnlyVolume = !writes && errno == EROFS
    }

    /// "you may read and write it"
    var text: String {
        switch (reads, writes) {
        case (true, true): "you may read and write it"
        case (true, false): "you may read it"
        case (false, true): "you may write it"
        case (false, false): "you may neither read nor write it"
        }
    }
}
