import Foundation
import PrefsJSON
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// A JSON file that a person has left malformed, or that a program is writing, is neither moved nor replaced.
@Suite final class MistakeTests: FolderSuite {
    final class ToolPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var a = 0
        @Pref var b = 0
    }

    private let system = RecordingSystemCalls()

    override init() throws {
        try super.init()
        // No read waits for the rest of a young file.
        system.age = (url.path, .seconds(2))
    }

    private func prefs(quarantines: Bool? = false) -> ToolPrefs {
        ToolPrefs(
            store: .propertyList(
                url: url, format: .json, durability: .crash, layout: .flat, quarantinesMistakes: quarantines,
                system: system))
    }

    /// A second has passed when the file is read, as its stamp says.
    override func put(_ text: String) throws {
        try super.put(text)
        system.elapse(.seconds(1))
    }

    private func quarantined() throws -> [String] { try folder.names().filter { $0.contains(".corrupt-") } }

    private static let mistake = "{\n  // mine\n  \"a\": 2,,\n  \"b\": 3\n}\n"

    // MARK: - Mistakes

    @Test func everyWriteIsRejectedWithTheLine() throws {
        let prefs = prefs()
        prefs.a = 1
        try put(Self.mistake)
        let writes: [(ToolPrefs) -> Void] = [
            { $0.a = 5 }, { $0["a"] = 5 }, { $0.values = ["a": 5] }, { $0.update { $0["a"] = 5 } }, { $0.resetAll() },
            { $0.$a.modify { $0 += 1 } }, { $0.$a.reset() },
            { _ = $0.import(Data("{\"a\": 5}".utf8), merge: true) }, { $0.values["a"] = 5 },
        ]
        for write in writes {
            write(prefs)
            #expect(prefs.lastError.kind == "damaged")
            let file = try #require(prefs.lastError.file)
            #expect((file.line, file.column, file.state) == (3, 10, .lastKnown))
            #expect(file.reason == "expected a key in quotes")
            #expect(try text() == Self.mistake)
        }
        #expect(prefs.a == 1)
        // The correction is read as if nothing had happened.
        try put(Self.mistake.replacing(",,", with: ","))
        #expect(prefs.a == 2 && prefs.b == 3 && prefs.lastError == nil)
        prefs.a = 4
        #expect(try text() == Self.mistake.replacing("2,,", with: "4,"))
        #expect(try quarantined().isEmpty)
    }

    /// It counts for a file that was found malformed before.
    @Test func aSecondStoreMayRejectWhatTheFirstWouldQuarantine() throws {
        let first = prefs(quarantines: true)
        first.a = 1
        try put(Self.mistake)
        #expect(first.a == 1 && first.lastError.kind == "damaged")
        let second = prefs(quarantines: false)
        second.a = 5
        #expect(second.lastError.kind == "damaged")
        #expect(try text() == Self.mistake && quarantined().isEmpty)
    }

    @Test func afterARestartTheLastGoodCopyIsRead() throws {
        do { prefs().a = 1 }
        try put(Self.mistake)
        let prefs = prefs()
        #expect(prefs.a == 1)
        let error = try #require(prefs.lastError)
        let file = try #require(prefs.lastError.file)
        guard case .lastGoodCopy(let date) = file.state else {
            Issue.record("\(error)")
            return
        }
        #expect(abs(date.timeIntervalSinceNow) < 100)
        #expect(error.description.hasSuffix("\(file.state) is read, without later edits"))
        prefs.a = 5
        #expect(prefs.lastError == error)
        #expect(try text() == Self.mistake)
    }

    @Test func anExplicitRemovalQuarantines() throws {
        let prefs = prefs()
        (prefs.a, prefs["b"]) = (1, 2)
        try put(Self.mistake)
        prefs.deleteRoot()
        #expect(prefs.lastError.kind == "quarantined")
        #expect(try quarantined().map { try Data(contentsOf: folder.file($0)) } == [Data(Self.mistake.utf8)])
        #expect(try text() == "{}\n")
        try put(Self.mistake)
        prefs.a = 5
        #expect(prefs.lastError?.isWarning == false)
    }

    /// Only with this rule a write quarantines the file. It starts from the text of the known state.
    @Test func theRuleOfProgramsQuarantines() throws {
        let prefs = prefs(quarantines: true)
        try put("{\"b\": 2, \"a\": 1, /* c */ \"z\": null}")
        #expect(prefs.a == 1)
        try put(Self.mistake)
        #expect(prefs.a == 1)
        prefs.a = 5
        // Nothing shows that this package has written the file.
        #expect(try text() == Self.mistake)
        try put("{\"b\": 2, \"a\": 1, /* c */ \"z\": null}")
        prefs.a = 6
        try put(Self.mistake)
        prefs.a = 7
        #expect(prefs.lastError?.isWarning == true)
        #expect(try text() == "{\"b\": 2, \"a\": 7, /* c */ \"z\": null}")
        #expect(try quarantined().count == 1)
    }

    /// In every order of their creation.
    @Test(arguments: [[true, false], [false, true], [true, nil, false], [nil, false, true]])
    func ifStoresDifferTheRejectionWins(_ rules: [Bool?]) throws {
        let instances = rules.map { prefs(quarantines: $0) }
        instances[0].a = 1
        try put(Self.mistake)
        for prefs in instances {
            #expect(prefs.b == 0)
            prefs.b = 2
            #expect(prefs.lastError?.isWarning == false)
        }
        #expect(try text() == Self.mistake && quarantined().isEmpty)
    }

    /// Every cut and every changed bit of a file: what only a machine leaves is quarantined, and nothing else is moved.
    @Test func onlyDamageOfAMachineIsQuarantined() throws {
        let prefs = prefs()
        (prefs.a, prefs.b) = (1, 2)
        let good = try Data(contentsOf: url)
        let copy = try Data(contentsOf: folder.file(".tool.json.lastgood"))
        var damages = (1..<good.count).map { good.prefix($0) }
        damages += (0..<good.count * 8).map { bit in
            var bytes = good
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            return bytes
        }
        damages += [good + Data(count: 9), Data(count: 64), good.prefix(4) + Data("x".utf8), Data("hello".utf8)]
        var (quarantined, left) = (0, 0)
        for damage in damages {
            try damage.write(to: url)
            try copy.write(to: folder.file(".tool.json.lastgood"))
            let isMalformed = (try? ContentCoder.decode(damage, in: .all)) == nil
            prefs.a = 9
            let isOfMachine = isMalformed && (damage.contains(0) || good.starts(with: damage))
            let aside = try self.quarantined()
            #expect(try aside.map { try Data(contentsOf: folder.file($0)) } == (isOfMachine ? [damage] : []))
            for name in aside { try FileManager.default.removeItem(at: folder.file(name)) }
            if isMalformed, !isOfMachine {
                #expect(try Data(contentsOf: url) == damage)
                left += 1
            }
            quarantined += aside.count
            try good.write(to: url)
            #expect(prefs.a == 1)
        }
        #expect(left > 50 && quarantined > 20)
    }

    // MARK: - Files without content

    @Test(arguments: ["", "\n", " \r\n\t\n"]) func anEmptyFileIsBeingWritten(_ blank: String) throws {
        let prefs = prefs()
        prefs.a = 1
        let heard = Heard<[String]>()
        let observation = prefs.onChange { heard.append($0.keys) }
        try put(blank)
        #expect(prefs.a == 1)
        #expect(prefs.lastError?.description.contains("is empty; another program may be writing it") == true)
        prefs.a = 2
        #expect(prefs.lastError?.isWarning == false)
        #expect(try text() == blank && quarantined().isEmpty)
        // The program has written it.
        try put("{\"a\": 3}")
        #expect(prefs.a == 3 && prefs.lastError == nil)
        #expect(heard.wait(for: 1) == [["a"]])
        _ = observation
    }

    /// Also if the clock was set back since the file was emptied, for a process that knows nothing.
    @Test(arguments: [("", false, 6), ("", true, 6), ("\n", false, 6), ("\n", true, 6), ("", true, -10)])
    func afterFiveSecondsItsCopyIsRead(_ blank: String, isNew: Bool, _ age: Int64) throws {
        var prefs = prefs()
        prefs.a = 1
        let copy = try Data(contentsOf: folder.file(".tool.json.lastgood"))
        if isNew { prefs = ToolPrefs(store: .memory()) }
        try put(blank)
        if age < 0 { system.age?.time = .seconds(age) }
        if isNew { prefs = self.prefs() }
        if age > 0 {
            #expect(prefs.a == 1)
            system.age?.time = .seconds(age)
        }
        for _ in 0..<2 {
            #expect(prefs.a == 1)
            #expect(prefs.lastError?.description.contains("is empty, and had values before") == true)
        }
        prefs.b = 4
        #expect(prefs.lastError.kind == "quarantined")
        #expect(prefs.lastError.file?.reason == "was empty, and its last good copy was there")
        #expect(try text() == "{\n  \"a\": 1,\n  \"b\": 4\n}\n")
        #expect(try quarantined() == ["tool.json.corrupt-missing"])
        #expect(try Data(contentsOf: folder.file("tool.json.corrupt-missing")) == copy)
        prefs.b = 5
        #expect(prefs.lastError == nil, "told once")
    }

    /// Nothing but this process knows that the file has had values: it has no last good copy, and was missing in between.
    @Test func afterARemovalItIsBeingWritten() throws {
        let prefs = prefs()
        prefs.a = 1
        for name in [".tool.json.lastgood", url.lastPathComponent] {
            try FileManager.default.removeItem(at: folder.file(name))
        }
        system.elapse(.seconds(1))
        #expect(prefs.a == 0 && prefs.lastError == nil)
        try put("")
        prefs.b = 2
        #expect(prefs.lastError?.isWarning == false)
        #expect(prefs.lastError?.description.contains("is empty; another program may be writing it") == true)
        #expect(try text().isEmpty && quarantined().isEmpty)
    }

    /// An observer has noticed that it is empty, and it has no copy; the next access comes when it has values again.
    @Test func anEmptyFileThatIsWrittenBeforeTheNextAccess() throws {
        let prefs = prefs()
        prefs.a = 1
        try FileManager.default.removeItem(at: folder.file(".tool.json.lastgood"))
        try put("")
        system.age?.time = .seconds(6)
        let observation = prefs.onChange { _ in }
        try put("{\"a\": 3}")
        #expect(prefs.a == 3 && prefs.lastError == nil)
        observation.cancel()
    }

    /// Nothing but the time has changed, and the write is the first access.
    @Test func anUpdateStartsFromTheCopyOfAnEmptyFile() throws {
        let prefs = prefs()
        prefs.a = 1
        try put("")
        prefs.update { prefs.a += 1 }
        #expect(prefs.lastError?.isWarning == false)
        system.age?.time = .seconds(6)
        prefs.update { prefs.a += 1 }
        #expect(try text() == "{\n  \"a\": 2\n}\n")
    }

    /// A byte-order mark is no content.
    @Test(arguments: ["", "\n", "  ", "\u{FEFF}\n"]) func anEmptyFileWithoutAPastIsMissing(_ blank: String) throws {
        try put(blank)
        let prefs = prefs()
        #expect(prefs.a == 0 && prefs.lastError == nil)
        prefs.a = 1
        #expect(try text() == "{\n  \"a\": 1\n}\n" && quarantined().isEmpty && prefs.lastError == nil)
    }

    // MARK: - Observers

    /// Once for each mistake, without an access.
    @Test func observersAreToldAtOnce() throws {
        let prefs = ToolPrefs(store: .json(url: url, durability: .crash))
        func put(_ text: String) throws { try Data(text.utf8).write(to: url, options: .atomic) }
        prefs.a = 1
        let (errors, changes) = (Heard<String>(), Heard<Int>())
        let handler = prefs.onError { errors.append($0.description) }
        let observations = [prefs.onChange { changes.append($0.count) }, prefs.$a.onChange { _, _ in }]
        try put(Self.mistake)
        #expect(errors.wait(for: 1).first?.contains("line 3, column 10: expected a key in quotes") == true)
        try put(Self.mistake.replacing(",,", with: ",").replacing("3", with: "3;"))
        #expect(errors.wait(for: 2).count == 2)
        try put(Self.mistake.replacing(",,", with: ","))
        changes.wait(for: 1)
        #expect(prefs.lastError == nil)
        try put(Self.mistake)
        errors.wait(for: 3)
        // A fault that one observer has not heard of yet is not lost by the start of another one.
        try put(Self.mistake.replacing(",,", with: ",").replacing("3", with: "4;"))
        let late = prefs.$b.onChange { _, _ in }
        errors.wait(for: 4)
        _ = late
        withExtendedLifetime((handler, observations)) {}
    }
}
