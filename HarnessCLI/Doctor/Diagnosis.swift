import Foundation
import PersistentPreferences

/// The state of a domain's file and of all that is beside it, and what follows from that. Nothing is changed by it.
struct Diagnosis {
    /// As its user has named it, absolute.
    let path: String
    /// nil where it cannot be found out where the path leads.
    let surroundings: SidecarPaths?
    let examination: FileInspection
    let file: FileFacts?
    let access: Access
    let folder: FileFacts?
    let folderAccess: Access
    let lock: LockState
    let temporary: FileFacts?
    let quarantined: [(path: String, facts: FileFacts, isWhole: Bool)]
    let lastGood: LastGood?

    /// The copy of the last commit.
    struct LastGood {
        let path: String
        let facts: FileFacts
        let examination: FileInspection
        let isEqual: Bool
        /// Whether it would be read in place of a damaged file.
        let isUsable: Bool

        /// Of the commit, `2026-11-22T08:30:00Z`.
        var time: String { JSONText.date(facts.modified) }
    }

    /// The name of a UserDefaults domain; nil for a file.
    let suite: String?

    /// - Parameter suite: the name of the UserDefaults domain that the file is of; nil if it was named by its path.
    init(path: String, suite: String? = nil) {
        self.path = path
        self.suite = suite
        let surroundings = try? SidecarPaths(path: path)
        self.surroundings = surroundings
        let target = surroundings?.file ?? path
        // Before the file: a writer that is at work is let get on with it.
        lock = surroundings.map(LockState.init) ?? .none
        examination = FileInspection(path: target, isDomain: suite != nil)
        file = FileFacts(target)
        access = Access(target)
        folder = surroundings.flatMap { FileFacts($0.folder) }
        folderAccess = Access(surroundings?.folder ?? path)
        temporary = surroundings.flatMap { FileFacts($0.temporary) }
        quarantined = (surroundings?.quarantined ?? []).compactMap { path in
            FileFacts(path).map { (path, $0, FileInspection(path: path).state == .whole) }
        }
        lastGood = surroundings.flatMap { [examination, file] in Self.lastGood($0.lastGood, examination, file) }
    }

    private static func lastGood(_ path: String, _ main: FileInspection, _ file: FileFacts?) -> LastGood? {
        guard let facts = FileFacts(path) else { return nil }
        let examination = FileInspection(path: path)
        // In a folder that others may write to anybody can plant one.
        let isOfSameOwner = facts.ownerID == file?.ownerID ?? Int(geteuid())
        return LastGood(
            path: path, facts: facts, examination: examination,
            isEqual: main.bytes != nil && examination.bytes == main.bytes,
            isUsable: facts.isFile && isOfSameOwner && examination.state == .whole)
    }
}
