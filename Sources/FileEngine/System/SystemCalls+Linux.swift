#if os(Linux) || os(Android)
    import Foundation

    extension SystemCalls {
        /// The time of the kernel's last tick. Kernels before 6.13 stamp files with it. Later ones may stamp them with a
        /// finer time, which is never before it.
        static func nextStamp() -> FileStatus.Time { time(of: CLOCK_REALTIME_COARSE) }

        static func synchronizeFully(_ descriptor: Descriptor) -> Int32 {
            fsync(descriptor)
        }

        /// The number of the mount that an open file is on; nil if it is unknown.
        static func mount(of descriptor: Descriptor) -> Substring? {
            let information = processFile("/proc/self/fdinfo/\(descriptor)").map { String(decoding: $0, as: UTF8.self) }
            return information?.split(separator: "\n").first { $0.hasPrefix("mnt_id:") }
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
            let place = try openRetrying(name, in: folder, Self.namesOnly | Self.followsNoLinks)
            defer { close(place) }
            try status(of: place).requireFile()
            return try openRetrying("/proc/self/fd/\(place)", in: AT_FDCWD, access | O_NOCTTY)
        }

        static func protection(of descriptor: Descriptor) -> Int32? { nil }
        static func setProtection(_ protection: Int32, of descriptor: Descriptor) -> Int32 { 0 }
    }
#endif
