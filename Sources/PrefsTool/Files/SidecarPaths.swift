import Foundation
import PersistentPreferences
import PrefsFileEngine

/// The physical path of a file, and the paths of the files that the engine keeps beside it. The files need not exist.
/// Changes nothing.
struct SidecarPaths: Sendable {
    /// Absolute, without links.
    let file: String
    let folder: String
    let lock: String
    let temporary: String
    let lastGood: String
    /// The quarantined files, sorted by name and so by time; nil if the folder cannot be listed.
    let quarantined: [String]?

    /// - Parameter path: absolute.
    init(path: String) throws(StorageFailure) {
        let names = FileNames(path: try PathResolution(path, system: .real).target)
        file = names.path
        folder = names.folder
        lock = names.path(of: names.lock)
        temporary = names.path(of: names.temporary)
        lastGood = names.path(of: names.lastGood)
        let prefix = "\(names.file).corrupt-"
        do {
            let all = try FileManager.default.contentsOfDirectory(atPath: names.folder)
            quarantined = all.filter { $0.utf8.starts(with: prefix.utf8) }.sorted().map(names.path(of:))
        } catch {
            quarantined = FileManager.default.fileExists(atPath: names.folder) ? nil : []
        }
    }

    /// The folder of an absolute path, without following links.
    static func folder(of path: String) -> String { FileNames(path: path).folder }

    /// Why the name of the file leaves no room for the names of recovery, so that writes are rejected; nil if it leaves
    /// room.
    var nameProblem: String? {
        do {
            try FileNames(path: file).checkRoomForWriting()
            return nil
        } catch FileError.notStored(let failure) {
            return failure.reason
        } catch {
            return "\(error)"
        }
    }

    /// Runs the closure with the lock file, open and not locked; nil if it does not exist.
    ///
    /// - Throws: the reason why writers cannot use it.
    func withLockFile<R>(_ body: (Int32) -> R) throws(StorageFailure) -> R? {
        let (system, names) = (SystemCalls.real, FileNames(path: file))
        let file: OpenFile?
        do throws(StorageFailure) {
            let folder = OpenFile(try system.openFolder(names.folder), system)
            file = try WriteLock.openLockFile(of: names, in: folder.descriptor, creates: false, system)?.0
        } catch {
            if [ENOENT, ENOTDIR].contains(error.code) { return nil }
            throw error
        }
        return file.map { body($0.descriptor) }
    }

    /// The path of a suite's file; nil if the suite has no file.
    ///
    /// - Throws: `PrefsError`.
    static func path(ofSuite name: String) throws -> String? {
        try Roots.ofSuite(name).fileURL?.path(percentEncoded: false)
    }
}
