import Foundation
import PrefsFileEngine
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsTool

/// An export is on disk when the command ends.
@Suite struct ExportFileTests {
    private let folder: TemporaryFolder
    private let system = RecordingSystemCalls()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func export() throws {
        try ExportFile.write(Data("new".utf8), to: folder.file("export").path, system: system)
    }

    /// The bytes before they get the name, and the name after that.
    @Test(arguments: [false, true]) func bytesAndNameAreFlushed(_ replaces: Bool) throws {
        if replaces { try Data("old".utf8).write(to: folder.file("export")) }
        try export()
        let calls = system.takeCalls().filter { ["write", "fsync", "rename"].contains($0) }
        #expect(calls.drop { $0 == "write" } == ["fsync", "rename", "fsync"])
        #expect(try Data(contentsOf: folder.file("export")) == Data("new".utf8))
    }

    @Test func bytesThatCannotBeFlushedReplaceNothing() throws {
        try Data("old".utf8).write(to: folder.file("export"))
        system.fail("fsync", with: EIO)
        #expect(throws: StorageFailure.self) { try export() }
        #expect(try Data(contentsOf: folder.file("export")) == Data("old".utf8))
        #expect(try folder.names() == ["export"])
    }
}
