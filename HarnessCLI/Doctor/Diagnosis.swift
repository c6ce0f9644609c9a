import Foundation
import PersistentPreferences

/// The state of a domain's file and of all that is beside it, and what follows from that. Nothing is changed by it.
struct Diagnosis {
    /// As its user has named it, absolute.
    let path: String
    /// nil where it cannot be found out where the path leads.
    let surroundings: FileSurroundings?
    let examination: FileExamination
    let file: FileMetadata?
    let access: Access
    let folder: FileMetadata?
    let folderAccess: Access
    let lock: LockState
    let temporary: FileMetadata?
    let quarantined: [(path: String, metadata: FileMetadata, isWhole: Bool)]
    let lastGood: LastGoodCopy?

    /// The copy of the last commit.
    struct LastGoodCopy {
        let path: String
        let metadata: FileMetadata
        let examination: FileExamination
        let isEqual: Bool
        /// Whether it would be read in place of a damaged file.
        let isUsable: Bool

        /// Of the commit, `2026-11-22T08:30:00Z`.
        var time: String { JSONText.date(metadata.modified) }
    }

    /// The name of a UserDefaults domain; nil for a file.
    let suite: String?

    /// - Parameter suite: the name of the UserDefaults domain that the file is of; nil if it was named by its path.
    init(path: String, suite: String? = nil) {
        self.path = path
        self.suite = suite
        let surroundings = try? FileSurroundings(path: path)
        self.surroundings = surroundings
        let target = surroundings?.file ?? path
        // Before the file: a writer that is at work is let get on with it.
        lock = surroundings.map(LockState.init) ?? .none
        examination = FileExamination(path: target, isDomain: suite != nil)
        file = FileMetadata(target)
        access = Access(target)
        folder = surroundings.flatMap { FileMetadata($0.folder) }
        folderAccess = Access(surroundings?.folder ?? path)
        temporary = surroundings.flatMap { FileMetadata($0.temporary) }
        quarantined = (surroundings?.quarantined ?? []).compactMap { path in
            FileMetadata(path).map { (path, $0, FileExamination(path: path).state == .whole) }
        }
        lastGood = surroundings.flatMap { [examination, file] in Self.lastGood($0.lastGood, examination, file) }
    }

    private static func lastGood(_ path: String, _ main: FileExamination, _ file: FileMetadata?) -> LastGoodCopy? {
        guard let metadata = FileMetadata(path) else { return nil }
        let examination = FileExamination(path: path)
        // In a folder that others may write to anybody can plant one.
        let isOfSameOwner = metadata.ownerID == file?.ownerID ?? Int(geteuid())
        return LastGoodCopy(
            path: path, metadata: metadata, examination: examination,
            isEqual: main.bytes != nil && examination.bytes == main.bytes,
            isUsable: metadata.isFile && isOfSameOwner && examination.state == .whole)
    }
}
