import Foundation
import TestSupport
import Testing

@testable import PrefsFileEngine

/// Another process commits after a reader has opened the file and before it has read its status. The reader then holds
/// a file without a name, which never changes.
@Suite struct ReplacedFileTests {
    private let folder: TemporaryFolder
    private let prefs: FileRoot

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

    init() throws {
        folder = try TemporaryFolder()
        let file = folder.file()
        let system = Replacing(file)
        try writePropertyList(["Root": ["a": 2]], to: file)
        system.replacement = try Data(contentsOf: file)
        try writePropertyList(["Root": ["a": 1]], to: file)
        prefs = FileRoot(file.path, system: system)
        #expect(system.replacement == nil)
    }

    @Test func theNextReadIsOfTheNewFile() {
        #expect(prefs.ints == ["a": 2])
    }

    @Test func theNextUpdateIsOfTheNewFile() throws {
        prefs.update { prefs["a"] = (prefs["a"] as? Int ?? 0) + 1 }
        #expect(try propertyList(at: folder.file())["Root"] as? [String: Int] == ["a": 3])
    }
}
