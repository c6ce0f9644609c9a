import Foundation
import PrefsPropertyLists
import Testing
import TestSupport

/// What readers of text share: containers that are made when they end, and texts that share their storage.
@Suite struct RepeatedKeyTests {
    /// What ends behind it, or not, changes nothing.
    @Test(arguments: ["", "\n", "</plist>"]) func aRepeatedKeyIsFoundBeforeTheEnd(_ end: String) throws {
        let text =
            "\(end.isEmpty || end == "\n" ? "" : "<plist>")<dict><key>a</key><true/><key>a</key><false/></dict>\(end)"
        let error = try #require(throws: PropertyListFault.self) { _ = try PropertyListCoder.decode(Data(text.utf8)) }
        #expect(!error.isUnsupported)
        #expect(error.reason == "the key \"a\" occurs twice, first in line 1")
    }

    /// Which of two repeated keys is found does not depend on what is around their dictionary.
    @Test func aRepeatedKeyOfAnInnerDictionaryIsFound() throws {
        let inner = "<dict>\n<key>b</key><true/>\n<key>b</key><true/></dict>"
        let text = "<dict><key>a</key><array><true/><dict><key>b</key>\(inner)</dict></array></dict>"
        let error = try #require(throws: PropertyListFault.self) { _ = try PropertyListCoder.decode(Data(text.utf8)) }
        #expect("\(error)" == "line 3, column 1: the key \"b\" occurs twice, first in line 2")
    }

    /// With the codes of its characters, and cut if it is long.
    @Test(arguments: [
        ("\u{E9}", "\"\u{E9}\" (U+00E9)"), ("a\u{1F600}", "\"a\u{1F600}\" (U+0061 U+1F600)"),
        (String(repeating: "k", count: 40), "\"\(String(repeating: "k", count: 40))\""),
        (String(repeating: "k", count: 41), "\"\(String(repeating: "k", count: 40))…\""),
    ])
    func aRepeatedKeyIsQuoted(_ key: String, _ quoted: String) throws {
        let text = "<dict><key>\(key)</key><true/><key>\(key)</key><false/></dict>"
        let error = try #require(throws: PropertyListFault.self) { _ = try PropertyListCoder.decode(Data(text.utf8)) }
        #expect(error.reason == "the key \(quoted) occurs twice, first in line 1")
    }

    /// Two spellings of a key are read, so they are not the mistake of a text that is cut off.
    @Test func aSecondSpellingIsNoMistake() throws {
        let text = "<plist><dict>\n<key>\u{E9}</key><true/><key>e\u{301}</key><false/><key>a</key><x/>"
        let error = try #require(throws: PropertyListFault.self) { _ = try PropertyListCoder.decode(Data(text.utf8)) }
        #expect(error.reason == "<x> is not an element of a property list" && error.line == 2)
    }

    /// A person mends a text from its beginning to its end.
    @Test func theFirstMistakeIsTold() throws {
        let text = "<dict><key>a</key><true/>\n<key>a</key><array><dict><key>b</key><true/><key>b</key><true/></dict>&"
        let error = try #require(throws: PropertyListFault.self) { _ = try PropertyListCoder.decode(Data(text.utf8)) }
        #expect("\(error)" == "line 2, column 1: the key \"a\" occurs twice, first in line 1")
    }

    @Test func recentTextsHaveTheBytesThatWereAskedFor() throws {
        var random = SeededGenerator(seed: 1)
        let texts = try #require([UInt8](repeating: 0, count: 1 << 16).withUnsafeBytes(RecentTexts.init))
        for _ in 0..<20_000 {
            // Few letters and lengths, so that texts come again, and many texts are alike at both ends.
            let count = Int.random(in: 14...20, using: &random) + (Bool.random(using: &random) ? 0 : 48)
            let bytes = (0..<count).map { index in
                index >= 8 && index < count - 8 ? UInt8.random(in: 0x61...0x62, using: &random) : 0x63
            }
            #expect(bytes.withUnsafeBytes(texts.text).map { Array($0.utf8) } == bytes)
        }
        let invalid = [UInt8](repeating: 0x63, count: 20) + [0xFF]
        #expect(invalid.withUnsafeBytes(texts.text) == nil)
    }
}
