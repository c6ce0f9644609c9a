import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The files of a folder that other programs write, one value in each, at one moment. Never writes.
final class FilesOfFolder: Sendable {
    /// The bytes by name, or why they cannot be read. Hidden names, those that are not UTF-8, and links to nothing are left
    /// out.
    let files: [String: Result<Data, StorageFailure>]
    /// The permissions of the files that their group or others may write.
    let writable: [String: UInt32]
    /// The permissions of the folder if others may exchange its files; nil if they may not, as with the sticky bit.
    let writableFolder: UInt32?
    /// Why the folder cannot be read. A missing folder has no files.
    let failure: StorageFailure?
    /// What to watch: the folder, with a slash at its end, the files, and the links on the way to them.
    let paths: Set<String>
    private let path: String
    private let limit: Int
    private let system: SystemCalls
    /// What each path led to, before it was read.
    private let statuses: [String: FileStatus?]
    /// Whether each later change shows in the statuses.
    private let isReliable: Locked<Bool>

    /// - Parameter path: absolute.
    private init(_ path: String, limit: Int, _ system: SystemCalls, _ willRead: (String) -> Void) {
        let now = system.nextStamp()
        (self.path, self.limit, self.system) = (path, limit, system)
        // Before the names are read, so that a later change shows.
        var statuses = [path: Self.status(of: path, system)]
        var files: [String: Result<Data, StorageFailure>] = [:]
        var (writable, writableFolder): ([String: UInt32], UInt32?) = ([:], nil)
        var (paths, failure): (Set<String>, StorageFailure?) = ([], nil)
        let others = UInt32(S_IWGRP | S_IWOTH)
        do throws(StorageFailure) {
            let folder = try PathResolution(path, system: system)
            paths = Set(folder.links + [folder.target + "/"])
            let there = try system.status(ofPath: folder.target, followsLinks: false)
            if let there, there.kind != .folder { throw StorageFailure(path: path, reason: "is not a folder") }
            if let there, there.mode & others != 0, there.mode & UInt32(S_ISVTX) == 0 {
                writableFolder = there.permissions
            }
            for name in there == nil ? [] : try Self.names(in: folder.target, system) {
                willRead(name)
                let path = FileNames.join(folder.target, name)
                statuses[path] = Self.status(of: path, system)
                do throws(StorageFailure) {
                    let file = try PathResolution(path, system: system)
                    paths.formUnion(file.links + [file.target])
                    guard let (open, status) = try system.openFile(FileNames(path: file.target)) else { continue }
                    statuses[path] = status
                    if status.mode & others != 0 { writable[name] = status.permissions }
                    files[name] = .success(try system.readAll(open.descriptor, size: status.size, limit: limit))
                } catch {
                    files[name] = .failure(error)
                }
            }
        } catch {
            failure = error
        }
        (self.files, self.writable, self.writableFolder) = (files, writable, writableFolder)
        (self.paths, self.failure, self.statuses) = (paths, failure, statuses)
        isReliable = Locked(statuses.values.allSatisfy { $0?.hasReliableTimes(before: now) ?? true })
    }

    /// Reads the folder. If files are exchanged meanwhile, reads again, so that all of them are of one state.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - limit: the bytes of the largest file that is read.
    ///   - willRead: called before each file, so that a test can interfere.
    static func read(
        _ path: String, limit: Int, system: SystemCalls = .real, willRead: (_ name: String) -> Void = { _ in }
    ) -> FilesOfFolder {
        var found = FilesOfFolder(path, limit: limit, system, willRead)
        for _ in 0..<10 {
            if found.hasStatuses { break }
            found = FilesOfFolder(path, limit: limit, system, willRead)
        }
        return found
    }

    /// Whether a read would find the same. Costs a `stat` for the folder and for each file.
    var isCurrent: Bool {
        guard hasStatuses else { return false }
        if isReliable.withLock({ $0 }) { return true }
        // A write within one tick of the clock leaves the times as they were.
        let new = FilesOfFolder(path, limit: limit, system) { _ in }
        guard new.files == files, new.statuses == statuses, new.failure == failure else { return false }
        if new.isReliable.withLock({ $0 }) { isReliable.withLock { $0 = true } }
        return true
    }

    private var hasStatuses: Bool { statuses.allSatisfy { Self.status(of: $0.key, system) == $0.value } }

    private static func status(of path: String, _ system: SystemCalls) -> FileStatus? {
        try? system.status(ofPath: path, followsLinks: true)
    }

    private static func names(in folder: String, _ system: SystemCalls) throws(StorageFailure) -> [String] {
        let descriptor = try system.openFolder(folder)
        defer { system.close(descriptor) }
        // A repaired name would be that of another file.
        return try system.names(in: descriptor)
            .filter { $0.utf8.first != UInt8(ascii: ".") && !$0.unicodeScalars.contains("\u{FFFD}") }.sorted()
    }
}
