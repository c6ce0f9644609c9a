@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences

/// A file and its surroundings: formats, permissions, links, other programs.
@Suite struct FileStoreTests {
    private let folder = TemporaryFolder.fresh

    private func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.file(name).path)[.posixPermissions] as? Int
    }

    /// `SurroundingsProcessTests` has the umasks.
    @Test func aReadCreatesNothingAndAWriteAPrivateFileInAPrivateFolder() throws {
        let prefs = folder.prefs("deep/er/test.plist")
        #expect(prefs.values.isEmpty)
        #expect(try folder.names().isEmpty)
        prefs["a"] = 1
        for name in ["deep", "deep/er"] { #expect(try permissions(name) == 0o700) }
        for name in ["test.plist", ".test.plist.lock", ".test.plist.lastgood"] {
            #expect(try permissions("deep/er/" + name) == 0o600, "\(name)")
        }
    }

    @Test func anExistingFileKeepsItsFormatAndMode() throws {
        for (format, start) in [(PropertyListSerialization.PropertyListFormat.xml, "<?xml"), (.binary, "bplist")] {
            let file = folder.file(start.filter(\.isLetter))
            try writePropertyList(["AnyPrefs": ["a": 1, "kept": 2], "other": [1]], to: file, as: format)
            try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: file.path)
            let prefs = folder.prefs(file.lastPathComponent)
            prefs["a"] = 2
            #expect(prefs.outcome == "ok")
            #expect(try Data(contentsOf: file).starts(with: Data(start.utf8)))
            #expect(try permissions(file.lastPathComponent) == 0o664)
            #expect(try permissions(".\(file.lastPathComponent).lock") == 0o600)
            let list = try propertyList(at: file)
            #expect(list["AnyPrefs"] as? [String: Int] == ["a": 2, "kept": 2])
            #expect(list["other"] as? [Int] == [1])
        }
    }

    @Test func anXMLFileRoundsDatesDownInMemoryAsOnDisk() throws {
        let date = Date(timeIntervalSinceReferenceDate: -1.25)
        let xml = AnyPrefs(store: PropertyListFileStore(url: folder.file("xml"), format: .xml))
        let binary = AnyPrefs(store: PropertyListFileStore(url: folder.file("binary")))
        for (prefs, expected) in [(xml, -2.0), (binary, -1.25)] {
            prefs["a"] = ["nested": [date]]
            for _ in 0..<2 {
                let read = prefs["a"] as? [String: [Date]]
                #expect(read?["nested"]?.first?.timeIntervalSinceReferenceDate == expected)
                prefs.flush()
            }
        }
    }

    @Test func anEditByAnotherProgramIsSeenByTheNextRead() throws {
        let prefs = folder.prefs()
        prefs["a"] = 1
        try writePropertyList(["AnyPrefs": ["a": 2]], to: folder.file(), as: .xml)
        #expect(prefs.ints == ["a": 2])
        try folder.removeLongAgo()
        #expect(prefs.ints.isEmpty)
        #expect(prefs.outcome == "ok")
        try writePropertyList(["AnyPrefs": ["a": 3]], to: folder.file())
        #expect(prefs.ints == ["a": 3])
        try FileManager.default.removeItem(at: folder.url)
        #expect(prefs.ints.isEmpty)
        prefs["a"] = 4
        #expect(prefs.outcome == "ok")
        #expect(prefs.ints == ["a": 4])
    }

    @Test func whatTakesTheFilesPlaceIsLeftThere() throws {
        mkfifo(folder.file("fifo").path, 0o600)
        try FileManager.default.createDirectory(at: folder.file("folder"), withIntermediateDirectories: true)
        for (name, kind) in [("fifo", "a FIFO"), ("folder", "a folder")] {
            let prefs = folder.prefs(name)
            #expect(prefs.values.isEmpty)
            #expect(prefs.outcome == "\(folder.path)/\(name): is \(kind); the stored state is unchanged")
            prefs["a"] = 1
            #expect(prefs.outcome == "\(folder.path)/\(name): is \(kind); the stored state is unchanged")
        }
        #expect(try folder.names().filter { !$0.hasPrefix(".") } == ["fifo", "folder"])
    }

    @Test(.enabled(if: Hazard.canRun("an unreadable file", if: geteuid() != 0, else: "root may read everything")))
    func aFileWithoutPermissionIsLeftAsItIs() throws {
        let prefs = folder.prefs()
        prefs["a"] = 1
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.file().path)
        // The last known state, with the error.
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.outcome.contains("Permission denied"))
        // A program that starts now reads the last good copy.
        #expect(folder.prefs().ints == ["a": 1])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file().path)
        #expect(prefs.ints == ["a": 1])
    }

    /// The next write of another process removes the file, because this process has checked at its first write.
    @Test func aTemporaryFileOfAKilledWriterGoesWithTheNextWrite() throws {
        folder.prefs()["a"] = 1
        try Data("half".utf8).write(to: folder.file(".test.plist.tmp"))
        let prefs = folder.prefs()
        #expect(prefs.ints == ["a": 1])
        #expect(try folder.names().contains(".test.plist.tmp"))
        // A write that changes nothing removes the file, too.
        prefs.update { _ in }
        #expect(try folder.names().contains(".test.plist.tmp") == false)
        try Data("half".utf8).write(to: folder.file(".test.plist.tmp"))
        prefs["a"] = 2
        #expect(try folder.names().contains(".test.plist.tmp") == false)
    }

    @Test(arguments: ["https://example.org/a.plist", "file:///", "file:///tmp/"])
    func aURLThatIsNotAFileIsRejected(_ text: String) throws {
        let url = try #require(URL(string: text))
        let prefs = AnyPrefs(store: PropertyListFileStore(url: url))
        if case .invalidName = prefs.lastError {} else { Issue.record("\(prefs.outcome)") }
        #expect(prefs.update { $0["a"] = 1 } != nil)
    }
}
