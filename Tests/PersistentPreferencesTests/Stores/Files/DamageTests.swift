@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// Malformed files: never a crash, never silently empty, never lost. A read leaves everything as it is, a write
/// quarantines.
@Suite(.waits) struct DamageTests {
    private let folder = TemporaryFolder.fresh
    /// System calls whose pauses take no time.
    private let system = RecordingSystemCalls()

    private func prefs() -> AnyPrefs { folder.prefs(system: system) }

    /// Prefs that know 1 under `a`. Another program has replaced their file by other bytes.
    private func damagedPrefs() throws -> AnyPrefs {
        prefs()["a"] = 1
        let prefs = prefs()
        try folder.damage()
        return prefs
    }

    /// A commit writes its copy after the file, perhaps in a later step of the clock.
    @Test func theCopyOfTheKnownStateIsNoNewerState() throws {
        let prefs = prefs()
        prefs["a"] = 1
        // At least four seconds, because of the fraction.
        try folder.file(".test.plist.lastgood").setModified(secondsFromNow: 5)
        try folder.damage()
        #expect(prefs.ints == ["a": 1])
        #expect(prefs.lastError?.detail(of: PrefsError.damaged)?.state == .lastKnown, "\(prefs.outcome)")
    }

    /// An acknowledged value is in the file, even if it equals the known state.
    @Test(arguments: [PrefsStore.Durability.powerCut, .crash], ["damage", ""])
    func anEqualWriteStoresWhatIsKnown(_ durability: PrefsStore.Durability, _ bytes: String) throws {
        prefs()["a"] = 1
        let prefs = AnyPrefs(
            store: .propertyList(url: folder.file(), durability: durability, system: system))
        try folder.damage(bytes)
        prefs["a"] = 1
        #expect(prefs.lastError?.isWarning == true, "\(prefs.outcome)")
        #expect(try folder.quarantined().count == 1)
        #expect(try propertyList(at: folder.file())["AnyPrefs"] as? [String: Int] == ["a": 1])
    }

    @Test func aRejectedWriteChangesNothing() throws {
        let prefs = try damagedPrefs()
        let before = try FolderState(folder)
        prefs["a"] = { 1 } as () -> Int
        #expect(prefs.outcome == "a: a closure cannot be stored in a property list")
        #expect(throws: Stop.self) { try prefs.update { _ in throw Stop() } }
        prefs["unknown"] = 1
        #expect(try FolderState(folder) == before)
    }

    /// A person edits the file, the program reads the edit, and the next edit has a typo.
    @Test func whatAPersonWroteIsNewerThanTheCopy() throws {
        func edit(_ body: String) throws {
            let text =
                "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict>\n<key>AnyPrefs</key>\n<dict>\n\(body)\n</dict>\n"
                + "</dict>\n</plist>\n"
            try Data(text.utf8).write(to: folder.file())
        }
        let prefs = AnyPrefs(store: .propertyList(url: folder.file(), format: .plainXML))
        prefs["a"] = 1
        try edit("<key>a</key><integer>2</integer>")
        #expect(prefs.ints == ["a": 2])
        try edit("<key>a</key><integer>3</integr>")
        let before = try FolderState(folder)
        #expect(prefs.problems().count == 1)
        #expect(prefs.ints == ["a": 2])
        let file = try #require(prefs.lastError?.detail(of: PrefsError.damaged), "\(prefs.outcome)")
        #expect(file.state == .lastKnown && file.line == 6 && file.column == 23)
        #expect(file.reason == "expected </integer>, found </integr>")
        #expect(try FolderState(folder) == before)
        // After the typo is corrected in place, everything is as before.
        try edit("<key>a</key><integer>3</integer>")
        #expect(prefs.ints == ["a": 3])
        #expect(prefs.outcome == "ok")
        prefs["b"] = 1
        #expect(prefs.outcome == "ok")
        #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    @Test func theCopyOfALaterCommitIsNewer() throws {
        prefs()["a"] = 1
        let file = PropertyListFile(path: folder.file().path, system: RecordingSystemCalls())
        #expect(try file.read().content?["AnyPrefs"]?.dictionary?["a"] == .integer(1))
        // Another object of the engine, as in another process.
        let other = PropertyListFile(path: folder.file().path, system: .real)
        try other.queue.transact(durability: .process, begin: other.begin) {
            $0["AnyPrefs"] = .dictionary(["a": .integer(2)])
        }
        try folder.damage()
        let reading = try file.read()
        #expect(reading.content?["AnyPrefs"]?.dictionary?["a"] == .integer(2))
        if case .damaged(let report) = reading.warning, case .lastGoodCopy = report.state { return }
        Issue.record("\(String(describing: reading.warning))")
    }

    @Test func repeatedReadsCostWhatAReadOfAGoodFileCosts() throws {
        let prefs = try damagedPrefs()
        _ = prefs["a"]
        _ = system.takeCalls()
        #expect(prefs["a"] as? Int == 1)
        #expect(system.takeCalls() == ["fstat"])
        #expect(!prefs.outcome.isEmpty)
    }

    @Test func isGivenTimeWhileItIsYoung() throws {
        prefs()["a"] = 1
        for (number, (text, pauses)) in [
            ("", 50), ("bplist00", 50), ("<?xml version=\"1.0\"?><plist>", 50), ("hello", 50),
        ].enumerated() {
            // The file stays young, even on a slow machine.
            system.frozenTime = FileStatus.Time(seconds: 1_000_000_000 + Int64(number), nanoseconds: 5)
            try folder.damage(text)
            _ = system.takeCalls()
            // A process that knows nothing.
            let prefs = prefs()
            _ = prefs.values
            #expect(system.takeCalls().filter { $0 == "pause" }.count == pauses, "\(text)")
            _ = prefs.values
            #expect(!system.takeCalls().contains("pause"), "\(text): a read waits once")
        }
    }

    @Test func anotherProgramThatFinishesItsWriteIsWaitedFor() throws {
        prefs()["a"] = 1
        let finished = try PropertyListCoder.encode(plain: ["AnyPrefs": ["a": 2]], as: .binary)
        let url = folder.file()
        (system.isClockAhead, system.isLate) = (false, false)
        system.onCall = { name in if name == "pause" { try? finished.write(to: url) } }
        let file = PropertyListFile(path: url.path, system: system)
        try finished.dropLast(3).write(to: url)
        let reading = try file.read()
        #expect(reading.content?["AnyPrefs"]?.dictionary?["a"] == .integer(2))
        #expect(reading.warning == nil)
    }

    /// Or if it has the most names that a file may have.
    @Test(arguments: [EPERM, ENOTSUP, EMLINK, ENOSYS]) func withoutSecondNamesItIsCopied(_ code: Int32) throws {
        let prefs = try damagedPrefs()
        system.fail("link", with: code)
        prefs["a"] = 2
        #expect(prefs.lastError?.isWarning == true, "\(prefs.outcome)")
        #expect(try folder.quarantined().map { try Data(contentsOf: folder.file($0)) } == [Data("hello".utf8)])
        #expect(prefs.ints == ["a": 2])
    }

    @Test func twoDamagesOfOneSecondAreBothKept() throws {
        for (number, text) in ["one", "two", "three"].enumerated() {
            prefs()["a"] = number
            try folder.damage(text)
            prefs()["a"] = 10 + number
        }
        let texts = try folder.quarantined().map { try String(contentsOf: folder.file($0), encoding: .utf8) }
        #expect(texts.sorted() == ["one", "three", "two"])
    }

    @Test func manyThreadsQuarantineItOnce() throws {
        prefs().values = ["a": 1, "b": 0]
        try folder.damage()
        inThreads(8) { _ in
            let error = prefs().update { $0["b"] = ($0["b"] as? Int ?? 100) + 1 }.failure
            if let error, !error.isWarning { Issue.record("\(error)") }
        }
        #expect(prefs().ints == ["a": 1, "b": 8])
        #expect(try folder.quarantined().count == 1)
    }

    @Test(arguments: [EPERM, EROFS, 0])
    func aWriteThatFailsLeavesEverythingAsItWas(_ code: Int32) throws {
        let prefs = try damagedPrefs()
        let before = try FolderState(folder)
        // If the link fails with EPERM, the damaged file is copied. With EROFS, nothing else is tried.
        if code != 0 { system.fail("link", with: code, code) }
        if code != EROFS { system.fail("write", with: ENOSPC, ENOSPC) }
        for _ in 0..<2 {
            prefs["a"] = 2
            let failure = try #require(prefs.lastError?.detail(of: PrefsError.notStored), "\(prefs.outcome)")
            #expect(failure.code == (code == EROFS ? EROFS : ENOSPC))
            #expect(prefs.ints == ["a": 1])
            let after = try FolderState(folder)
            #expect(code == EROFS ? after == before : after.hasSameFiles(as: before))
        }
        // There is room again.
        prefs["a"] = 2
        #expect(prefs.lastError?.isWarning == true, "\(prefs.outcome)")
        #expect(try folder.quarantined().count == 1)
        #expect(prefs.ints == ["a": 2])
    }

    @Test func aFlushThatFailsAfterTheReplacementLosesNoBytes() throws {
        prefs()["a"] = 1
        try folder.damage()
        let prefs = prefs()
        system.failFlush(4)
        prefs["a"] = 2
        #expect(prefs.lastError?.detail(of: PrefsError.durabilityUnconfirmed) != nil, "\(prefs.outcome)")
        #expect(prefs.ints == ["a": 2])
        #expect(prefs.lastError?.isWarning == true, "the warning comes with the next access that succeeds")
        #expect(try folder.quarantined().map { try Data(contentsOf: folder.file($0)) } == [Data("hello".utf8)])
    }

    @Test func aCopyThatCannotBeReadIsNotGivenUp() throws {
        prefs()["a"] = 1
        try folder.damage()
        let before = try FolderState(folder)
        system.beforeOpen = { name, _, _ throws(StorageFailure) in
            if name.hasSuffix(".lastgood") { throw StorageFailure("open", name, code: EMFILE) }
        }
        let prefs = prefs()
        let failure = prefs.lastError?.detail(of: PrefsError.unreadable)
        #expect(failure?.path.hasSuffix(".lastgood") == true, "\(prefs.outcome)")
        #expect(prefs.values.isEmpty)
        system.beforeOpen = nil
        #expect(prefs.ints == ["a": 1])
        #expect(try FolderState(folder) == before)
    }

    @Test func noErrorQuotesTheFile() throws {
        let secret =
            "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n<key>k</key><integer>12secret</integer></dict>"
        try Data(secret.utf8).write(to: folder.file())
        let prefs = prefs()
        #expect(
            prefs.outcome.contains(
                "line 3, column 13: <integer> does not hold a whole number of 64 bits; the file is unchanged"))
        #expect(!prefs.outcome.contains("secret"))
    }

    @Test func aGoodFileThatIsTooDeepForUsIsLeftAsItIs() throws {
        var deep: Any = 1
        for _ in 0..<200 { deep = [deep] }
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            try writePropertyList(["AnyPrefs": ["a": 1], "theirs": deep], to: folder.file(), as: format)
            let bytes = try Data(contentsOf: folder.file())
            let prefs = prefs()
            let message = "nested deeper than 80 levels; the stored state is unchanged"
            #expect(prefs.outcome.hasSuffix(message))
            prefs["a"] = 2
            #expect(prefs.outcome.hasSuffix(message))
            #expect(try Data(contentsOf: folder.file()) == bytes)
            #expect(try folder.quarantined().isEmpty)
        }
    }
}
