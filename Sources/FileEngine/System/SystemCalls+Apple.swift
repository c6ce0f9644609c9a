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

        /// Returns nil, because files are not mounted there.
        static func mount(of descriptor: Descriptor) -> Substring? { nil }

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
    }
#endif
