#if os(Linux) || os(Android)
    import Foundation

    extension SystemCalls {
        static let stampingClock = CLOCK_REALTIME_COARSE

        static func synchronizeFully(_ descriptor: Descriptor) -> Int32 {
            fsync(descriptor)
        }

        /// For `open`: fails if the last part of the path is a link.
        static let followsNoLinks = O_NOFOLLOW

        /// `O_PATH`, which the C library's module leaves out.
        private static let namesOnly: Int32 = 0o10_000_000

        /// Runs the closure with the folder of a physical path, open for nothing but to look up names, and the name in it; the name
        /// is empty for the path `/`.
        ///
        /// The folders are opened one by one: another user may have put a link in the place of one since the path was resolved.
        ///
        /// - Throws: ELOOP if that has happened, else what `open` reports.
        func withFolder<R>(
            of names: FileNames, _ body: (Descriptor, String) throws(StorageFailure) -> R
        ) throws(StorageFailure) -> R {
            var folder = try openRetrying("/", in: AT_FDCWD, Self.namesOnly | O_DIRECTORY)
            defer { close(folder) }
            for name in names.folder.utf8.split(separator: UInt8(ascii: "/")) {
                do throws(StorageFailure) {
                    let next = try openFolder(String(Substring(name)), in: folder, Self.namesOnly)
                    close(folder)
                    folder = next
                } catch {
                    throw error.at(names.folder)
                }
            }
            return try body(folder, names.file)
        }
    }
#endif
