package import Foundation

/// A new folder that is removed with the object.
package final class TemporaryFolder: Sendable {
    /// The folder, empty at first.
    package let url: URL
    /// The path, without a slash at its end.
    package let path: String

    /// A new folder, its path without links.
    ///
    /// - Parameter onDisk: true for a test of extended attributes or access control lists, which memory may not have.
    package convenience init(onDisk: Bool = false) throws {
        try self.init(in: onDisk ? Self.disk : Self.usualParent)
    }

    /// A new folder in a given one, which is created if it is missing.
    package init(in parent: URL) throws {
        ReadBack.begin
        url = parent.appending(path: "prefs-\(UUID().uuidString)", directoryHint: .isDirectory)
        path = String(url.path(percentEncoded: false).dropLast())
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// The place that `PREFS_TEST_FOLDER` names. `Scripts/run-hazard.sh` names one, so the long forms run on a disk.
    private static let asked = ProcessInfo.processInfo.environment["PREFS_TEST_FOLDER"].map {
        URL(filePath: $0, directoryHint: .isDirectory).resolvingSymlinksInPath()
    }

    /// Where the folders are, unless a test asks for another place.
    package static let usualParent = asked ?? memory ?? disk

    private static let disk = asked ?? FileManager.default.temporaryDirectory.resolvingSymlinksInPath()

    /// The shared memory of Linux, where a flush costs nothing; nil if it is missing, is smaller than what all tests
    /// need at once, or runs no programs, as in many containers.
    private static let memory: URL? = {
        #if os(Linux)
            // `ST_NOEXEC`, which the C library's module leaves out.
            let runsNothing: UInt = 8
            var status = statvfs()
            guard statvfs("/dev/shm", &status) == 0, access("/dev/shm", W_OK | X_OK) == 0,
                status.f_flag & runsNothing == 0, UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 1 << 30
            else { return nil }
            return URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        #else
            return nil
        #endif
    }()

    deinit {
        guard (try? FileManager.default.removeItem(at: url)) == nil else { return }
        // A test may have removed the permissions.
        let paths = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for path in [self.path] + paths.map({ self.path + "/" + $0 }) {
            // Does not follow a link, because it may lead anywhere on this machine.
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { chmod(path, 0o700) }
        }
        try? FileManager.default.removeItem(at: url)
    }

    /// A file in the folder, which need not exist.
    package func file(_ name: String = "test.plist") -> URL {
        url.appending(path: name, directoryHint: .notDirectory)
    }

    /// The names of all files in the folder, including hidden ones, sorted.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
