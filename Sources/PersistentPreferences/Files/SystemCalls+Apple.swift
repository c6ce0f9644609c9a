#if canImport(Darwin)
    import Foundation

    extension SystemCalls {
        static let stampingClock = CLOCK_REALTIME

        /// `fsync` leaves the bytes in the drive's own cache there; volumes that cannot flush it answer ENOTSUP.
        static func synchronizeFully(_ descriptor: Descriptor) -> Int32 {
            let result = fcntl(descriptor, F_FULLFSYNC)
            return result == 0 || (errno != ENOTSUP && errno != EINVAL) ? result : fsync(descriptor)
        }

        /// For `open`: fails if any part of the path is a link.
        static let followsNoLinks = O_NOFOLLOW_ANY

        /// Runs the closure with what a physical path can be looked up by: a sandbox may allow the path, and not its folder.
        func withFolder<R>(
            of names: FileNames, _ body: (Descriptor, String) throws(StorageFailure) -> R
        ) throws(StorageFailure) -> R {
            try body(AT_FDCWD, names.path)
        }

        /// Lists are apart from the mode there.
        static func modeIsMask(of descriptor: Descriptor) throws(StorageFailure) -> Bool { false }

        static func copyExtendedAttributes(from old: Descriptor, to new: Descriptor) throws(StorageFailure) {
            guard fcopyfile(old, new, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)) != 0 else { return }
            let reason = String(cString: strerror(errno))
            throw StorageFailure(path: "", reason: "its attributes cannot be kept: \(reason)")
        }
    }
#endif
