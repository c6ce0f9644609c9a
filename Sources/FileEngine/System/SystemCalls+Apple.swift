#if canImport(Darwin)
    import Foundation
    import PrefsPropertyLists

    extension SystemCalls {
        /// APFS uses a clock with nanoseconds that programs cannot read, so 20 ms are a safety margin.
        static func nextStamp() -> FileStatus.Time {
            let (now, margin) = (time(of: CLOCK_REALTIME), 20_000_000)
            return now.nanoseconds >= margin
                ? FileStatus.Time(seconds: now.seconds, nanoseconds: now.nanoseconds - margin)
                : FileStatus.Time(seconds: now.seconds - 1, nanoseconds: now.nanoseconds + 1_000_000_000 - margin)
        }

        /// `fsync` leaves the bytes in the drive's own cache there; volumes that cannot flush it answer ENOTSUP.
        static func synchronizeFully(_ descriptor: Descriptor) -> Int32 {
            let result = fcntl(descriptor, F_FULLFSYNC)
            return result == 0 || (errno != ENOTSUP && errno != EINVAL) ? result : fsync(descriptor)
        }

        /// Returns `local`, because there are no overlays, and apps must declare a reason to Apple for the call that
        /// detects a server.
        static func fileSystem(of descriptor: Descriptor) -> FileSystem { .local }

        /// Returns nil, because files are not mounted there.
        static func mount(of descriptor: Descriptor) -> Substring? { nil }

        /// Returns true for the same reason: a server is not detected.
        static func reportsChanges(inFolder path: String) -> Bool { true }

        /// For `open`: fails if any part of the path is a link.
        package static let followsNoLinks = O_NOFOLLOW_ANY

        /// Runs the closure with `AT_FDCWD` and the whole physical path: a sandbox may allow the path, but not its
        /// folder.
        package func withFolder<R>(
            of names: FileNames, _ body: (Descriptor, String) throws(StorageFailure) -> R
        ) throws(StorageFailure) -> R {
            try body(AT_FDCWD, names.path)
        }

        /// There are no leases on Apple platforms.
        func openLeased(
            _ name: String, in folder: Descriptor, _ access: Int32
        ) throws(StorageFailure) -> Descriptor {
            throw StorageFailure("open", name, code: EWOULDBLOCK)
        }

        /// False: on Apple platforms, an access control list does not change what the mode means.
        static func hasAccessControlList(_ descriptor: Descriptor) throws(StorageFailure) -> Bool { false }

        /// Does not use `COPYFILE_ACL`, which keeps the inherited entries of the new file and omits the entries of the
        /// old one.
        static func copyAttributes(from old: Descriptor?, to new: Descriptor) throws(StorageFailure) {
            let list = old.flatMap { acl_get_fd_np($0, ACL_TYPE_EXTENDED) } ?? acl_init(1)
            guard let list else { throw failure("access control list") }
            defer { acl_free(UnsafeMutableRawPointer(list)) }
            // A volume without access control lists returns ENOTSUP.
            if acl_set_fd_np(new, list, ACL_TYPE_EXTENDED) != 0, errno != ENOTSUP {
                throw failure("access control list")
            }
            guard let old, fcopyfile(old, new, nil, copyfile_flags_t(COPYFILE_XATTR)) != 0 else { return }
            throw failure("extended attributes")
        }

        #if os(macOS)
            /// nil, because files on a Mac have no protection class.
            static func protection(of descriptor: Descriptor) -> Int32? { nil }
            static func setProtection(_ protection: Int32, of descriptor: Descriptor) -> Int32 { 0 }
        #else
            static func protection(of descriptor: Descriptor) -> Int32? {
                let protection = fcntl(descriptor, F_GETPROTECTIONCLASS)
                return protection > 0 ? protection : nil
            }

            /// Succeeds on a volume without data protection, as in a simulator.
            static func setProtection(_ protection: Int32, of descriptor: Descriptor) -> Int32 {
                let result = fcntl(descriptor, F_SETPROTECTIONCLASS, protection)
                return result < 0 && errno == ENOTSUP ? 0 : result
            }
        #endif

        private static func failure(_ what: String) -> StorageFailure {
            StorageFailure(path: "", reason: "its \(what) cannot be kept: \(String(cString: strerror(errno)))")
        }
    }
#endif
