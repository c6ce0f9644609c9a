#if os(Linux) || os(Android)
    import Foundation
    import Testing

    @testable import PrefsFileEngine

    /// What the kernel's numbers of file systems mean.
    @Suite struct FileSystemTests {
        /// By the names of linux/magic.h. Each version of SMB has a number of its own.
        static let kinds: [(name: String, number: UInt32, kind: FileSystem)] = [
            ("SMB_SUPER_MAGIC", 0x517B, .smb), ("CIFS_SUPER_MAGIC", 0xFF53_4D42, .smb),
            ("SMB2_SUPER_MAGIC", 0xFE53_4D42, .smb),
            ("NFS_SUPER_MAGIC", 0x6969, .server), ("V9FS_MAGIC", 0x0102_1997, .server),
            ("CEPH_SUPER_MAGIC", 0x00C3_6400, .server), ("FUSE_SUPER_MAGIC", 0x6573_5546, .server),
            ("OVERLAYFS_SUPER_MAGIC", 0x794C_7630, .overlay),
            ("EXT4_SUPER_MAGIC", 0xEF53, .local), ("BTRFS_SUPER_MAGIC", 0x9123_683E, .local),
            ("XFS_SUPER_MAGIC", 0x5846_5342, .local), ("TMPFS_MAGIC", 0x0102_1994, .local),
            ("MSDOS_SUPER_MAGIC", 0x4D44, .local), ("F2FS_SUPER_MAGIC", 0xF2F5_2010, .local),
        ]

        @Test(arguments: kinds) func eachNumberHasItsKind(_ name: String, _ number: UInt32, _ kind: FileSystem) throws {
            #expect(FileSystem.kind(number) == kind)
            // The header is the judge of the numbers, where it is installed.
            let header = (try? String(contentsOfFile: "/usr/include/linux/magic.h", encoding: .utf8)) ?? ""
            let line = header.split(separator: "\n").first {
                $0.split(whereSeparator: \.isWhitespace).starts(with: ["#define", name[...]])
            }
            guard let word = line?.split(whereSeparator: \.isWhitespace).dropFirst(2).first else { return }
            #expect(UInt32(word.dropFirst(2).prefix { $0.isHexDigit }, radix: 16) == number, "\(word)")
        }
    }
#endif
