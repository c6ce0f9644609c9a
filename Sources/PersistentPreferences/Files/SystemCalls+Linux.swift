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
            var folder = OpenFile(try openRetrying("/", in: AT_FDCWD, Self.namesOnly | O_DIRECTORY), self)
            for name in PathResolution.parts(of: names.folder) {
                do throws(StorageFailure) {
                    folder = OpenFile(try openFolder(name, in: folder.descriptor, Self.namesOnly), self)
                } catch {
                    throw error.at(names.folder)
                }
            }
            return try body(folder.descriptor, names.file)
        }
    }
#endif
