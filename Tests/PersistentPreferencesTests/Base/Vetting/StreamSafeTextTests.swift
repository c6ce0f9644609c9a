@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsJSON

/// No key takes more than linear time. A key with more than 30 combining marks in a row is rejected before it is
/// hashed, by every reader and every write path.
@Suite struct StreamSafeTextTests {
    /// A key with so many marks that have to be sorted.
    private static func key(marks: Int) -> String {
        "a" + String(repeating: "\u{301}\u{316}", count: marks / 2) + (marks.isMultiple(of: 2) ? "" : "\u{301}")
    }

    private static let hostile = key(marks: 60_000)

    @Test func thirtyMarksAreAllowed() throws {
        #expect(StreamSafeText.isSafe(Self.key(marks: 30)))
        #expect(!StreamSafeText.isSafe(Self.key(marks: 31)))
        // A letter of any script begins a new row.
        #expect(StreamSafeText.isSafe(String(repeating: Self.key(marks: 30), count: 100)))
        #expect(StreamSafeText.isSafe(String(repeating: "日本語のキー", count: 100)))
        let allowed = Self.key(marks: 30)
        let prefs = AnyPrefs([allowed], store: .memory())
        prefs[allowed] = 1
        #expect(prefs.outcome == "ok" && prefs[allowed] as? Int == 1)
    }

    @Test func filesOfBothFormats() throws {
        let xml = Data("<plist><dict><key>\(Self.hostile)</key><true/></dict></plist>".utf8)
        let units = Array(Self.hostile.utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let count = Self.hostile.utf16.count
        let text: [UInt8] = [0x6F, 0x12] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + units
        let folder = try TemporaryFolder()
        for bytes in [xml, BinaryList([[0xD1, 2, 1], [0x09], text]).data] {
            try bytes.write(to: folder.file())
            let prefs = folder.prefs()
            #expect(
                prefs.outcome.contains("a key has more than 30 combining marks in a row; the stored state is unchanged")
            )
            prefs["a"] = 1
            #expect(prefs.outcome.contains("combining marks"))
            #expect(try Data(contentsOf: folder.file()) == bytes)
        }
    }

    /// Twelve kilobytes: 4,000 dictionaries that share one key of 2,000 marks.
    @Test func aKeyThatIsShared() throws {
        let units = Array(Self.key(marks: 2_000).utf16)
        let countAndUnits = ([UInt16(units.count)] + units).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let text: [UInt8] = [0x6F, 0x11] + countAndUnits
        let list: [UInt8] = [0xAF, 0x11, 0x0F, 0xA0] + [UInt8](repeating: 1, count: 4_000)
        let bytes = BinaryList([list, [0xD1, 2, 3], text, [0x09]]).data
        let failure = #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(bytes) }
        #expect(failure?.description == StreamSafeText.reason)
    }

    /// Texts that are not keys are never compared as strings. Each element is rejected or read in linear time.
    @Test(arguments: ["real", "integer", "date", "data", "string"]) func values(in element: String) {
        let text = Self.hostile
        for content in [text, "1" + text, "2001-01-01T00:00:00Z" + text] {
            let value = try? PropertyListCoder.decode(Data("<plist><\(element)>\(content)</\(element)></plist>".utf8))
                .value.object
            #expect((value != nil) == (element == "string"))
        }
    }

    @Test func imports() {
        let prefs = AnyPrefs(store: .memory())
        for json in ["{\"\(Self.hostile)\": 1}", "{\"a\": {\"\(Self.hostile)\": 1}}"] {
            let error = prefs.import(Data(json.utf8), merge: true)
            #expect(error.map { "\($0)".contains("a key has more than 30 combining marks in a row") } == true)
        }
    }

    /// A dictionary with such a key is made only once, because making it takes the caller's time.
    @Test func values() {
        let prefs = AnyPrefs(store: .memory())
        let hostile = [Self.key(marks: 2_000): 1]
        prefs["a"] = ["b": hostile]
        #expect(prefs.outcome == "a.b: a key has more than 30 combining marks in a row")
        prefs["a"] = NSDictionary(dictionary: hostile)
        #expect(prefs.outcome == "a: a key has more than 30 combining marks in a row")
        prefs.values = hostile
        #expect(prefs.outcome.hasSuffix("a key has more than 30 combining marks in a row"))
        #expect(prefs.update { $0 = hostile }.failure != nil)
        prefs[Self.hostile] = 1
        if case .incorrectKeys = prefs.lastError {} else { Issue.record("\(prefs.outcome.prefix(100))") }
        let others = [Self.hostile + "b", Self.hostile + "a", Self.hostile + "b"]
        #expect(prefs.reset(others[0], others[1], others[2]) != nil)
        if case .incorrectKeys(let keys) = prefs.lastError {
            #expect(keys.map(\.utf8.last) == [UInt8(ascii: "a"), UInt8(ascii: "b")])
        } else {
            Issue.record("\(prefs.outcome.prefix(100))")
        }
        #expect(prefs[Self.hostile] == nil)
        #expect(prefs.values.isEmpty)
    }
}
