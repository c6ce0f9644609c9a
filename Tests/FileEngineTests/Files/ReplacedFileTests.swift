import Foundation
import TestSupport
import Testing

@testable import PrefsFileEngine

/// Another process commits after a reader has opened the file and before it has read its status. The reader then holds
/// a file without a name, which never changes.
@Suite final class ReplacedFileTests: FolderSuite {
    /// Replaces a file right after it was opened, once.
    private final class Replacing: SystemCalls, @unchecked Sendable {
        private let file: URL
        nonisolated(unsafe) var replacement: Data?

        init(_ file: URL) {
            self.file = file
        }

        override func open(
            _ name: String, in folder: Descriptor, _ flags: Int32, mode: mode_t
        ) throws(StorageFailure) -> Descriptor {
            let descriptor = try super.open(name, in: folder, flags, mode: mode)
            if name == file.lastPathComponent, let replacement {
                self.replacement = nil
                try? replacement.write(to: file, options: .atomic)
            }
            return descriptor
        }
    }

    /// The values of a file that was replaced while it was opened.
    private func prefs() throws -> FileRoot {
        let file = folder.file()
        let system = Replacing(file)
        try writePropertyList(["Root": ["a": 2]], to: file)
        system.replacement = try Data(contentsOf: file)
        try writePropertyList(["Root": ["a": 1]], to: file)
        let prefs = FileRoot(file.path, system: system)
        #expect(system.replacement == nil)
        return prefs
    }

    @Test func theNextAccessIsOfTheNewFile() throws {
        #expect(try prefs().ints == ["a": 2])
        let prefs = try prefs()
        prefs.update { prefs["a"] = (prefs["a"] as? Int ?? 0) + 1 }
        #expect(try propertyList(at: folder.file())["Root"] as? [String: Int] == ["a": 3])
    }
}
