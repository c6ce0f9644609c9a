@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Text for people contains no character that controls a terminal, and cuts long keys; JSON stays exact.
@Suite struct ShownTextTests {
    private static let hostile = "a\u{1B}[2J\n\t\u{7F}\u{9B}\u{202E}\u{200B}\u{FEFF}\u{AD}\u{2028}\u{E0041}b"

    private static var allScalars: [Unicode.Scalar] {
        (0...0x10FFFF).compactMap { Unicode.Scalar(UInt32($0)) }
    }

    @Test func controlAndFormatCharactersAreUnsafe() {
        for scalar
            in "\u{1B}\u{0}\n\t\u{7F}\u{80}\u{9F}\u{AD}\u{61C}\u{200B}\u{200E}\u{202E}\u{2066}\u{2028}\u{2029}\u{FEFF}\u{E0041}\u{3164}"
            .unicodeScalars
        {
            #expect(ShownText.isUnsafe(scalar), "\(scalar.value)")
        }
        for scalar in " ~aé日\u{200C}\u{200D}\u{301}\u{FE0E}\u{FE0F}\u{A0}👍\u{E000}\u{E0100}".unicodeScalars {
            #expect(!ShownText.isUnsafe(scalar), "\(scalar.value)")
        }
    }

    @Test func whatIsEscapedIsOneSafeLine() {
        let line = #"a\u{1b}[2J\n\t\u{7f}\u{9b}\u{202e}\u{200b}\u{feff}\u{ad}\u{2028}\u{e0041}b"#
        #expect(ShownText.line(Self.hostile) == line)
        #expect(ShownText.line(line) == line)
        #expect(ShownText.lines("a\n\tb\r\u{1B}") == "a\n\tb\\u{d}\\u{1b}")
        let shown = ShownText.line(String(String.UnicodeScalarView(Self.allScalars)))
        #expect(!shown.unicodeScalars.contains(where: ShownText.isUnsafe))
    }

    @Test func aLongTextIsCutByScalars() {
        #expect(ShownText.line("abc", longest: 3) == "abc")
        #expect(ShownText.line("abcd", longest: 3) == "abc…")
        // No escape is cut.
        #expect(ShownText.line("a\u{1B}b", longest: 5) == "a…")
        let marks = "a" + String(repeating: "\u{301}\u{316}", count: 500_000)
        #expect(ShownText.key(marks).unicodeScalars.count == 81)
    }

    @Test func jsonOfEveryScalarIsExactAndHasNoControls() throws {
        // The usual form leaves out most of the planes without characters.
        for start in stride(from: 0, to: 0x110000, by: 0x4000)
        where Hazard.isLong || start < 0x20000 || start >= 0xDC000 && start < 0xF0000 {
            let scalars = (start..<start + 0x4000).compactMap { Unicode.Scalar(UInt32($0)) }
            let text = String(String.UnicodeScalarView(scalars))
            let json = try String(decoding: ExportFormat.json.data(of: ["k": .string(text)]), as: UTF8.self)
            #expect(!json.unicodeScalars.contains { $0 != "\n" && JSONEscape.isRequired($0) })
            let shown = ShownText.json(json)
            #expect(!shown.unicodeScalars.contains { $0 != "\n" && ShownText.isUnsafe($0) })
            for form in shown == json ? [json] : [json, shown] {
                let ours = try ExportFormat.value(ofJSON: Data(form.utf8)).object as? [String: String]
                let theirs = try JSONSerialization.jsonObject(with: Data(form.utf8)) as? [String: String]
                #expect(ours?["k"]?.unicodeScalars.elementsEqual(scalars) == true, "\(start)")
                #expect(theirs?["k"]?.unicodeScalars.elementsEqual(scalars) == true, "\(start)")
            }
        }
    }

    @Test func xmlReadsAsTheSameDocument() throws {
        let text = String(
            Self.hostile.unicodeScalars.filter { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" }.map(Character.init))
        let bytes = try ExportFormat.xml.data(of: [text: .string(text)])
        let shown = ShownText.xml(String(decoding: bytes, as: UTF8.self))
        #expect(shown.contains("&#x9B;&#x202E;") && !shown.contains("\u{202E}"))
        let values = try ExportFormat.values(of: Data(shown.utf8))
        #expect(values.first?.key == text && values.first?.value == .string(text))
    }

    // MARK: - Messages

    private static let long = hostile + String(repeating: "\u{1B}k", count: 10_000)

    private struct Foreign: Error, CustomStringConvertible {
        var description: String { ShownTextTests.long }
    }

    /// With texts of the program, and with what others say.
    private static var errors: [PrefsError] {
        let failure = PropertyListFailure(path: long + "[3]", topLevelKey: long, reason: "is wrong")
        return [
            .incorrectKeys(invalidElements: [long, "b"]), .valuesNotPlistCompatible(invalidElements: [long]),
            .noStoredPrefsForKey(key: long),
            .invalidName(name: long, reason: "is not a valid root key: it is too long"),
            .rootIsNotDictionary(key: long), .mismatch(of: [failure]), .violation(of: [failure]),
            .migrationFailed(key: long, version: 2, error: failure), .unknownError(error: Foreign()),
            .migrationFailed(key: "k", version: 1, error: Foreign()),
            .notStored(StorageFailure(path: "", reason: long)), .outcomeUnknown(StorageFailure(path: "", reason: long)),
            .violation(ofKey: "k", long),
            .invalidName(name: "k", reason: long), .invalidImport(reason: long),
        ]
    }

    @Test(arguments: errors) func anErrorIsOneShortSafeLine(error: PrefsError) {
        let text = error.description
        #expect(!text.unicodeScalars.contains(where: ShownText.isUnsafe), "\(text)")
        #expect(text.unicodeScalars.count < 1_400 && text.contains(#"a\u{1b}[2J\n\t"#))
    }

    @Test func aRootThatIsTooLargeIsAShortError() {
        let names = (0..<1_000).map { "key \($0)" }
        let prefs = AnyPrefs(names, store: .memory())
        prefs.values = Dictionary(uniqueKeysWithValues: names.map { ($0, String(repeating: "x", count: 5_000)) })
        let lines = prefs.outcome.split(separator: "\n")
        #expect(lines.first == "key 0: the root would be larger than 4 MiB")
        #expect(lines.count == 21 && lines.last == "and 980 more")
        #expect(prefs.lastError?.failures.count == 1_000)
    }

    /// A path is shown completely, and escaped.
    @Test func anErrorShowsNoRawPath() throws {
        let folder = try TemporaryFolder()
        let prefs = folder.prefs("a\u{1B}[2J\u{9B}.plist")
        prefs["a"] = 1
        try Data("damaged".utf8).write(to: folder.file("a\u{1B}[2J\u{9B}.plist"))
        #expect(prefs.problems().count == 1)
        for access in [{ _ = prefs["a"] }, { prefs["a"] = 2 }] {
            access()
            #expect(prefs.outcome.contains(#"/a\u{1b}[2J\u{9b}.plist: "#), "\(prefs.outcome.debugDescription)")
            #expect(!prefs.outcome.unicodeScalars.contains(where: ShownText.isUnsafe))
        }
        let xml = AnyPrefs(store: .propertyList(url: folder.file(), format: .plainXML))
        xml["a"] = ["k\u{1B}": 1]
        #expect(xml.outcome.contains(#"k\u{1b}"#) && !xml.outcome.unicodeScalars.contains(where: ShownText.isUnsafe))
    }

    @Test func manyKeysAreCounted() {
        let keys = (1...1_000).map { "key \($0)" }
        let text = PrefsError.incorrectKeys(invalidElements: InvalidKeys(keys)).description
        #expect(text.hasSuffix("\"key 20\" and 980 more"))
    }

    @Test func aReaderEscapesKeysInMessages() throws {
        var collector = DictionaryCollector()
        for key in ["\u{E9}\u{202E}", "e\u{301}\u{202E}"] { _ = collector.add(key, .integer(1), .lastCounts) }
        let loss = try #require(collector.loss)
        #expect(loss.contains(#"\u{202e}" (U+00E9 U+202E)"#) && !loss.contains("\u{202E}"), "\(loss)")
    }

    @Test func anImportThatFailsNamesASafePath() throws {
        let prefs = AnyPrefs(store: .memory())
        let json = #"{"\u0301\u202e": {"\u001b[2J": nil}}"#
        let error = try #require(prefs.import(Data(json.utf8), merge: true))
        #expect("\(error)".contains(#"(at "# + "\u{301}" + #"\u{202e}.\u{1b}[2J)"#), "\(error)")
        let key = String(repeating: "k", count: 200)
        let other = try #require(prefs.import(Data("{\"\(key)\": {\"b\": nil}}".utf8), merge: true))
        #expect("\(other)".contains("kk….b)"), "\(other)")
    }
}
