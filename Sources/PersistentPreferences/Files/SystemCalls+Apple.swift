#if canImport(Darwin)
    import Foundation

    extension SystemCalls {
        static let stampingClock = CLOCK_REALTIME

        /// `fsync` leaves the bytes in the drive's own cache there; volumes that cannot flush it answer ENOTSUP.
        static func synchronizeFully(_ descriptor: Descriptor) -> Int32 {
            let result = fcntl(descriptor, F_FULLFSYNC)
            return result == 0 || (errno != ENOTSUP && errno != EINVAL) ? result : fsync(descriptor)
        }
    }
#endif
