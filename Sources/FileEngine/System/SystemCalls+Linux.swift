#if os(Linux) || os(Android)
    import Foundation

    extension SystemCalls {
        /// The time of the kernel's last tick. Kernels before 6.13 stamp files with it. Later ones may stamp them with a
        /// finer time, which is never before it.
        static func nextStamp() -> FileStatus.Time { time(of: CLOCK_REALTIME_COARSE) }

        static func synchronizeFully(_ descriptor: Descriptor) -> Int32 {
            fsync(descriptor)
        }

        /// By their numbers in linux/magic.h: SMB; NFS, 9P, Ceph and FUSE, which ask a server or a program in user space; and
        /// overlayfs, on which an open file of the lower layer stays unchanged.
        private static func kind(_ number: UInt32) -> FileSystem {
            switch number {
            case 0xFF53_4D42, 0xFE53_4D42, 0x517B: .smb
            case 0x6969, 0x0102_1997, 0x00C3_6400, 0x6573_5546: .server
            case 0x794C_7630: .overlay
            default: .local
            }
        }

        static func fileSystem(of descriptor: Descriptor) -> FileSystem {
            fileSystem { fstatfs(descriptor, $0) } ?? .overlay
        }

        static func reportsChanges(inFolder path: String) -> Bool {
            fileSystem { statfs(path, $0) }?.isOnServer != true
        }

        /// The number of the mount that an open file is on; nil if it is unknown.
        static func mount(of descriptor: Descriptor) -> Substring? {
            let information = processFile("/proc/self/fdinfo/\(descriptor)").map { String(decoding: $0, as: UTF8.self) }
            return information?.split(separator: "\n").first { $0.hasPrefix("mnt_id:") }
        }

        /// The kind of a file system; nil if the call fails.
        private static func fileSystem(_ call: (UnsafeMutablePointer<Int>) -> Int32) -> FileSystem? {
            // The type is the first word of `struct statfs`, which has no more than 128 bytes.
            var words = [Int](repeating: 0, count: 32)
            guard call(&words) == 0 else { return nil }
            return kind(UInt32(truncatingIfNeeded: words[0]))
        }

        /// For `open`: fails if the last part of the path is a link.
        package static let followsNoLinks = O_NOFOLLOW

        /// `O_PATH`, which the C library's module leaves out.
        private static let namesOnly: Int32 = 0o10_000_000

        /// Runs the closure with the folder of a physical path, opened only to look up names, and the name in it. The
        /// name is empty for the path `/`.
        ///
        /// The folders are opened one by one, because another user may have replaced one by a link since the path was
        /// resolved.
        ///
        /// - Throws: ELOOP if a folder has become a link, or the error of `open`.
        package func withFolder<R>(
            of names: FileNames, _ body: (Descriptor, String) throws(StorageFailure) -> R
        ) throws(StorageFailure) -> R {
            let folder = try openFolders(of: names)
            defer { close(folder) }
            return try body(folder, names.file)
        }

        @inline(never) private func openFolders(of names: FileNames) throws(StorageFailure) -> Descriptor {
            var folder = try openRetrying("/", in: AT_FDCWD, Self.namesOnly | O_DIRECTORY)
            for name in names.folder.utf8.split(separator: UInt8(ascii: "/")) {
                let outer = folder
                defer { close(outer) }
                do throws(StorageFailure) {
                    folder = try openFolder(String(Substring(name)), in: outer, Self.namesOnly)
                } catch {
                    throw error.at(names.folder)
                }
            }
            return folder
        }

        /// Opens a regular file on which another process has a lease (`F_SETLEASE`). Waits until that process gives way;
        /// the kernel takes the lease after `fs.lease-break-time` seconds. The file is opened by its descriptor, because
        /// a FIFO may have taken its name, and would block for ever.
        func openLeased(
            _ name: String, in folder: Descriptor, _ access: Int32
        ) throws(StorageFailure) -> Descriptor {
            let place = OpenFile(try openRetrying(name, in: folder, Self.namesOnly | Self.followsNoLinks), self)
            try status(of: place.descriptor).requireFile()
            return try openRetrying("/proc/self/fd/\(place.descriptor)", in: AT_FDCWD, access | O_NOCTTY)
        }

        static func protection(of descriptor: Descriptor) -> Int32? { nil }
        static func setProtection(_ protection: Int32, of descriptor: Descriptor) -> Int32 { 0 }
    }

    // The C library has these functions (sys/statfs.h), but its module does not declare them.
    @_silgen_name("fstatfs")
    private func fstatfs(_ descriptor: Int32, _ buffer: UnsafeMutablePointer<Int>) -> Int32

    @_silgen_name("statfs")
    private func statfs(_ path: UnsafePointer<CChar>, _ buffer: UnsafeMutablePointer<Int>) -> Int32
#endif
