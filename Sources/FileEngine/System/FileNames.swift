import Foundation
import PrefsPropertyLists

/// The names of a file and of what the engine keeps beside it, all in one folder.
package struct FileNames: Sendable {
    package let path: String
    package let folder: String
    package let file: String

    /// - Parameter path: absolute, without links.
    package init(path: String) {
        self.path = path
        // By bytes: to Swift a slash and a combining mark after it are one character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        file = String(path[path.utf8.index(after: slash)...])
    }

    /// Locked by whoever writes the file. Never deleted or renamed, or two processes could each hold a lock.
    package var lock: String { ".\(file).lock" }
    /// What a commit is written to before it takes the file's name. One name suffices: whoever holds the lock is the
    /// only one to use it, and finds what a killed process has left.
    package var temporary: String { ".\(file).tmp" }
    /// The bytes of the last commit.
    package var lastGood: String { ".\(file).lastgood" }

    /// The longest name of a file: the longest name beside it, that of a quarantined file, adds 37 bytes, and file systems
    /// hold 255.
    static let longestFileName = 218

    /// - Throws: `FileError.notStored` if a name beside the file would be too long.
    package func checkRoomForWriting() throws {
        guard file.utf8.count <= Self.longestFileName else {
            let reason =
                "its name has \(file.utf8.count) bytes; more than \(Self.longestFileName) leave no room for the names that "
                + "recovery needs"
            throw FileError.notStored(StorageFailure(path: path, reason: reason))
        }
    }

    /// Where damaged bytes go. `attempt` counts up until the name is free.
    func quarantine(at time: FileStatus.Time, attempt: Int) -> String {
        let stamp = UTCTime(secondsSince1970: time.seconds).text.filter { $0 != "-" && $0 != ":" }
        return "\(file).corrupt-\(stamp)Z-\(getpid())" + (attempt == 0 ? "" : "-\(attempt)")
    }

    package func path(of name: String) -> String { Self.join(folder, name) }

    static func join(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }
}
