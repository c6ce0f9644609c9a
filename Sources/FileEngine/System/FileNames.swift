import Foundation
import PrefsPropertyLists

/// The names of a file and of the files that the engine keeps beside it in the same folder.
package struct FileNames: Sendable {
    package let path: String
    package let folder: String
    package let file: String
    /// Locked by the process that writes the file. Never deleted or renamed, because then two processes could hold a
    /// lock each.
    package let lock: String
    /// The file that a commit writes and renames. One name is enough, because only the holder of the lock uses it, and
    /// removes the file of a killed process.
    package let temporary: String
    /// The former file while a new one gets its name, on SMB only. It counts while there is a temporary file and no file.
    let former: String
    /// The bytes of the last commit (`CheckedCopy`).
    package let lastGood: String

    /// - Parameter path: absolute, without links.
    package init(path: String) {
        self.path = path
        // Compares bytes, because a slash and a combining mark after it are one Character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        file = String(path[path.utf8.index(after: slash)...])
        lock = ".\(file).lock"
        temporary = ".\(file).tmp"
        former = ".\(file).former"
        lastGood = ".\(file).lastgood"
    }

    /// Whether this is the last good copy of another file.
    package var isLastGoodCopy: Bool {
        file.utf8.first == UInt8(ascii: ".") && Array(file.utf8.suffix(9)) == Array(".lastgood".utf8)
    }

    /// The longest name of a file. The name of a quarantined file has 37 more bytes, and file systems allow 255.
    static let longestFileName = 218

    /// - Throws: if a name beside the file would be too long.
    package func checkRoomForWriting() throws(StorageFailure) {
        guard file.utf8.count <= Self.longestFileName else {
            let reason =
                "its name has \(file.utf8.count) bytes; expected at most \(Self.longestFileName), because recovery needs "
                + "longer names"
            throw StorageFailure(path: path, reason: reason)
        }
    }

    /// The name for quarantined bytes. `attempt` counts up until the name is free.
    func quarantine(at time: FileStatus.Time, attempt: Int) -> String {
        let stamp = UTCTime(secondsSince1970: time.seconds).text.filter { $0 != "-" && $0 != ":" }
        return "\(file).corrupt-\(stamp)Z-\(getpid())" + (attempt == 0 ? "" : "-\(attempt)")
    }

    /// The name for the last good copy of a missing file, when a new file takes its place.
    var copyOfMissing: String { "\(file).corrupt-missing" }

    package func path(of name: String) -> String { Self.join(folder, name) }

    package static func join(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }
}
