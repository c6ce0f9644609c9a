package import Foundation

/// A fresh folder that is gone when the object is.
package final class TemporaryFolder: Sendable {
    /// The folder, empty at first.
    package let url: URL

    /// A new folder under the system's temporary one, its path without links.
    package init() throws {
        let parent = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        url = parent.appending(path: "prefs-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A test may have taken the permissions away.
        let paths = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for path in [self.path] + paths.map({ self.path + "/" + $0 }) {
            // Not what a link leads to, which may be anything on this machine.
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { chmod(path, 0o700) }
        }
        try? FileManager.default.removeItem(at: url)
    }

    /// The path, without a slash at its end.
    package var path: String { String(url.path(percentEncoded: false).dropLast()) }

    /// A file in the folder, which need not exist.
    package func file(_ name: String = "test.plist") -> URL {
        url.appending(path: name, directoryHint: .notDirectory)
    }

    /// The names of all that is in the folder, hidden ones included, sorted.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
