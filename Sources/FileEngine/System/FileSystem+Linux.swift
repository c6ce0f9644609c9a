#if os(Linux) || os(Android)
    import Foundation

    extension FileSystem {
        /// By their numbers in linux/magic.h: SMB; NFS, 9P, Ceph and FUSE, which ask a server or a program in user space; and
        /// overlayfs, on which an open file of the lower layer stays unchanged.
        static func kind(_ number: UInt32) -> FileSystem {
            switch number {
            case 0xFF53_4D42, 0xFE53_4D42, 0x517B: .smb
            case 0x6969, 0x0102_1997, 0x00C3_6400, 0x6573_5546: .server
            case 0x794C_7630: .overlay
            default: .local
            }
        }

        /// The file system of an open file.
        init(of descriptor: Int32) {
            self = Self.kind { fstatfs(descriptor, $0) } ?? .overlay
        }

        static func reportsChanges(inFolder path: String) -> Bool {
            kind { statfs(path, $0) }?.isOnServer != true
        }

        /// The kind of a file system; nil if the call fails.
        private static func kind(_ call: (UnsafeMutablePointer<Int>) -> Int32) -> FileSystem? {
            // The type is the first word of `struct statfs`, which has no more than 128 bytes.
            var words = [Int](repeating: 0, count: 32)
            guard call(&words) == 0 else { return nil }
            return kind(UInt32(truncatingIfNeeded: words[0]))
        }
    }

    // The C library has these functions (sys/statfs.h), but its module does not declare them.
    @_silgen_name("fstatfs")
    private func fstatfs(_ descriptor: Int32, _ buffer: UnsafeMutablePointer<Int>) -> Int32

    @_silgen_name("statfs")
    private func statfs(_ path: UnsafePointer<CChar>, _ buffer: UnsafeMutablePointer<Int>) -> Int32
#endif
