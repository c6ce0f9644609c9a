import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences

/// Files whose bytes are no property list: never a crash, never silently empty, never lost.
@Suite struct DamageTests {
    private let folder: TemporaryFolder
    /// Its pauses take no time.
    private let system = RecordingSystemCalls()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func prefs() -> AnyPrefs {
        AnyPrefs(store: PropertyListFileStore(url: folder.file(), system: system))
    }

    private func setAside() throws -> [String] {
        try folder.names().filter { $0.hasPrefix("test.plist.corrupt-") }
    }

    static let damages: [(name: String, bytes: Data)] = [
        ("empty", Data()),
        ("text", Data("hello".utf8)),
        ("old style", Data("{}".utf8)),
        ("cut binary", Data("bplist00".utf8)),
        ("cut XML", Data("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>a".utf8)),
        ("array on top", Data("<?xml version=\"1.0\"?><plist version=\"1.0\"><array/></plist>".utf8)),
    ]

    @Test(arguments: damages.map(\.name))
    func isSetAsideAndTheLastGoodStateRestored(_ name: String) throws {
        let bytes = try #require(Self.damages.first { $0.name == name }?.bytes)
        prefs()["a"] = 1
        let prefs = prefs()
        try bytes.write(to: folder.file())
        #expect(prefs.ints == ["a": 1])
        guard case .damaged(let path, _, let setAsideAs, true) = prefs.lastError else {
            Issue.record("\(prefs.outcome)")
            return
        }
        #expect(path == folder.file().path)
        let names = try setAside()
        #expect(names.map { folder.path + "/" + $0 } == [setAsideAs])
        #expect(try names.map { try Data(contentsOf: folder.file($0)) } == [bytes])
        #expect(try propertyList(at: folder.file())["AnyPrefs"] as? [String: Int] == ["a": 1])
        // Told once.
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.outcome == "ok")
        #expect(prefs.errors.count == 1)
    }

    @Test func withoutALastGoodStateItReadsEmptyAndSaysSo() throws {
        try Data("hello".utf8).write(to: folder.file())
        let prefs = prefs()
        #expect(prefs.outcome.hasSuffix("there was no last good state"))
        #expect(prefs.values.isEmpty)
        #expect(try setAside().count == 1)
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
    }

    @Test func aWriteThatMeetsItIsCarriedOutOnTheRestoredState() throws {
        prefs().values = ["a": 1, "b": 2]
        let prefs = prefs()
        try Data("hello".utf8).write(to: folder.file())
        let error = prefs.update { $0["a"] = 5 }
        guard case .damaged(_, _, .some, true) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(prefs.ints == ["a": 5, "b": 2])
    }

    @Test func isGivenTimeWhileItIsYoung() throws {
        prefs()["a"] = 1
        let prefs = prefs()
        try Data("hello".utf8).write(to: folder.file())
        system.isClockAhead = false
        _ = system.takeCalls()
        _ = prefs.values
        #expect(system.takeCalls().filter { $0 == "pause" }.count == 50)
        #expect(try setAside().count == 1)
    }

    @Test func anotherProgramThatFinishesItsWriteIsWaitedFor() throws {
        prefs()["a"] = 1
        let finished = try PropertyListCoder.encode(["AnyPrefs": ["a": 2]], as: .binary)
        final class Finisher: SystemCalls, @unchecked Sendable {
            nonisolated(unsafe) var finish: () -> Void = {}
            override func pause() { finish() }
        }
        let finisher = Finisher()
        let url = folder.file()
        finisher.finish = { try? finished.write(to: url) }
        let file = PropertyListFile(path: url.path, system: finisher)
        try finished.dropLast(3).write(to: url)
        let reading = try file.read()
        #expect((reading.content?["AnyPrefs"] as? [String: Any])?["a"] as? Int == 2)
        #expect(reading.notice == nil)
        #expect(try setAside().isEmpty)
    }

    @Test func whatCannotBeMovedIsReadAsTheLastGoodStateAndNotWritten() throws {
        prefs()["a"] = 1
        let prefs = prefs()
        try Data("hello".utf8).write(to: folder.file())
        for _ in 0..<10 { system.fail("link", with: EROFS) }
        for _ in 0..<2 {
            #expect(prefs.ints == ["a": 1])
            guard case .damaged(_, _, nil, true) = prefs.lastError else {
                Issue.record("\(prefs.outcome)")
                return
            }
        }
        let error = prefs.update { $0["a"] = 2 }
        guard case .damaged(_, _, nil, true) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(prefs.ints == ["a": 1])
        #expect(try Data(contentsOf: folder.file()) == Data("hello".utf8))
    }

    @Test func withoutSecondNamesItIsRenamed() throws {
        prefs()["a"] = 1
        let prefs = prefs()
        try Data("hello".utf8).write(to: folder.file())
        system.fail("link", with: EPERM)
        #expect(prefs.ints == ["a": 1])
        #expect(try setAside().count == 1)
    }

    @Test func twoDamagesOfOneSecondAreBothKept() throws {
        prefs()["a"] = 1
        for text in ["one", "two", "three"] {
            try Data(text.utf8).write(to: folder.file())
            #expect(prefs().ints == ["a": 1])
        }
        let texts = try setAside().map { try String(contentsOf: folder.file($0), encoding: .utf8) }
        #expect(texts.sorted() == ["one", "three", "two"])
    }

    @Test func manyThreadsFindItOnce() throws {
        prefs()["a"] = 1
        try Data("hello".utf8).write(to: folder.file())
        inThreads(8) { _ in
            let found = prefs().ints
            if found != ["a": 1] { Issue.record("\(found)") }
        }
        #expect(try setAside().count == 1)
    }

    @Test(arguments: [EPERM, 0])
    func aRestoreThatFailsLeavesEverythingAsItWas(_ code: Int32) throws {
        prefs()["a"] = 1
        let prefs = prefs()
        try Data("hello".utf8).write(to: folder.file())
        // With EPERM for the link the damaged file is renamed and has to be named back.
        if code != 0 { system.fail("link", with: code, code) }
        system.fail("write", with: ENOSPC, ENOSPC)
        for _ in 0..<2 {
            #expect(prefs.ints == ["a": 1])
            #expect(prefs.outcome.hasSuffix("writes are refused, reads give the last good state"))
            #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
            #expect(try Data(contentsOf: folder.file()) == Data("hello".utf8))
        }
        // There is room again.
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.outcome.hasSuffix("the last good state was restored"))
        #expect(try setAside().count == 1)
    }

    @Test func aFlushThatFailsAfterTheRestoreLosesNoBytes() throws {
        final class FolderFails: SystemCalls, @unchecked Sendable {
            nonisolated(unsafe) var syncs = 0
            override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
                syncs += 1
                if syncs == 4 { throw StorageFailure("fsync", "", code: EIO) }
            }
            override func pause() {}
        }
        prefs()["a"] = 1
        try Data("hello".utf8).write(to: folder.file())
        let prefs = AnyPrefs(store: PropertyListFileStore(url: folder.file(), system: FolderFails()))
        #expect(prefs.outcome.hasSuffix("the last good state was restored"))
        #expect(prefs.ints == ["a": 1])
        #expect(try setAside().map { try Data(contentsOf: folder.file($0)) } == [Data("hello".utf8)])
    }

    @Test func aMomentWithoutDescriptorsIsNotRemembered() throws {
        prefs()["a"] = 1
        let prefs = prefs()
        try Data("hello".utf8).write(to: folder.file())
        system.fail("flock", with: EMFILE)
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.outcome.hasSuffix("reads give the last good state"))
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.outcome.hasSuffix("the last good state was restored"))
    }

    @Test func noErrorQuotesTheFile() throws {
        let secret =
            "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n<key>k</key><integer>12secret</integer></dict>"
        try Data(secret.utf8).write(to: folder.file())
        let prefs = prefs()
        #expect(prefs.outcome.contains("no property list (line 3); set aside"))
        #expect(!prefs.outcome.contains("'s'"))
    }

    @Test func aGoodFileThatIsTooDeepForUsIsLeftAsItIs() throws {
        var deep: Any = 1
        for _ in 0..<200 { deep = [deep] }
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            try writePropertyList(["AnyPrefs": ["a": 1], "theirs": deep], to: folder.file(), as: format)
            let bytes = try Data(contentsOf: folder.file())
            let prefs = prefs()
            let trouble = "nested deeper than 160 levels; the file was left as it is"
            #expect(prefs.outcome.hasSuffix(trouble))
            prefs["a"] = 2
            #expect(prefs.outcome.hasSuffix(trouble))
            #expect(try Data(contentsOf: folder.file()) == bytes)
            #expect(try setAside().isEmpty)
        }
    }

    @Test func aRootThatIsNoDictionaryIsKeptUntilDeleteAll() throws {
        try writePropertyList(["AnyPrefs": [1, 2]], to: folder.file())
        let prefs = prefs()
        let trouble = "what is stored under the root key \"AnyPrefs\" is no dictionary; deleteAll() removes it"
        #expect(prefs.outcome == trouble)
        #expect(prefs.values.isEmpty)
        prefs["a"] = 1
        #expect(prefs.outcome == trouble)
        #expect(prefs.update { $0["a"] = 1 }.map { "\($0)" } == trouble)
        #expect(try propertyList(at: folder.file())["AnyPrefs"] as? [Int] == [1, 2])
        #expect(try setAside().isEmpty)
        prefs.deleteAll()
        #expect(prefs.outcome == "ok")
        prefs["a"] = 1
        #expect(prefs.ints == ["a": 1])
    }
}
