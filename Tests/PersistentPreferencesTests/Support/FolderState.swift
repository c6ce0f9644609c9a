import Foundation
import TestSupport

@testable import PersistentPreferences
@testable import PrefsFileEngine

/// The complete state of a folder: names, bytes, inodes, permissions and times. Equal states prove that nothing was
/// created, renamed, changed, touched or removed in between.
struct FolderState: Equatable {
    private struct File: Equatable {
        let status: FileStatus
        let bytes: Data?
    }

    private let folder: FileStatus?
    private let files: [String: File]

    init(_ folder: TemporaryFolder) throws {
        try self.init(in: folder.path)
    }

    init(in folder: String) throws {
        let system = SystemCalls.real
        self.folder = try system.status(ofPath: folder, followsLinks: false)
        var files: [String: File] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let path = folder + "/" + name
            guard let status = try system.status(ofPath: path, followsLinks: false) else { continue }
            let bytes = status.kind == .file ? try? Data(contentsOf: URL(filePath: path)) : nil
            files[name] = File(status: status, bytes: bytes)
        }
        self.files = files
    }

    /// Whether names and bytes are equal, even if times differ.
    func hasSameFiles(as other: FolderState) -> Bool {
        files.mapValues(\.bytes) == other.files.mapValues(\.bytes)
    }
}
