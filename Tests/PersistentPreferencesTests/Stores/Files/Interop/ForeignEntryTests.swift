import EngineSupport
@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences

/// Entries of other programs: a write of another key preserves them for every reader, or is rejected and says why.
@Suite(.waits) struct ForeignEntryTests {
    private let folder = TemporaryFolder.fresh

    @Test(arguments: 0..<30) func binaryIsBitExact(_ seed: UInt64) throws {
        var theirs = try InteropTree.make(seed: seed)
        theirs["archive"] =
            [KeyedArchiveUID(value: seed), "\u{0}\u{1}", Date.distantPast, "\u{FEFF}x", NSNumber(value: -0.0)] as [Any]
        let bytes = try PropertyListCoder.encode(
            objects: ["theirs": theirs, "AnyPrefs": [String: Any]()] as [String: Any], as: .binary)
        try bytes.write(to: folder.file())
        folder.prefs()["a"] = 1
        #expect(folder.prefs().ints == ["a": 1])
        let after = try PropertyListCoder.decode(Data(contentsOf: folder.file())).value.object as? [String: Any]
        let again = try PropertyListCoder.encode(
            objects: ["theirs": after?["theirs"] ?? "", "AnyPrefs": [String: Any]()] as [String: Any], as: .binary)
        #expect(again == bytes)
        #expect(exactForm(after?["theirs"] ?? "") == exactForm(theirs))
    }

    /// Foundation reads equal values from the XML before and after, also from texts that only Foundation writes in this
    /// way.
    @Test(arguments: [
        "<string>a\rb\r\nc</string>", "<string> 15 </string>", "<array><string>&#13;</string><data/></array>",
        "<integer>-0</integer>",
        "<real>nan</real>", "<dict><key>CF$UID</key><integer>7</integer></dict>", "<date>0001-01-01T00:00:00Z</date>",
    ])
    func xmlIsTheSameForFoundation(_ element: String) throws {
        // Foundation does not read an empty element of data.
        func theirs(_ text: String) throws -> String {
            let list = try PropertyListSerialization.propertyList(
                from: Data(text.replacing("<data/>", with: "<data></data>").utf8), options: [], format: nil)
            return XMLJudge.form(try #require((list as? [String: Any])?["theirs"]))
        }
        let text = "<plist version=\"1.0\"><dict><key>theirs</key>\(element)</dict></plist>"
        try Data(text.utf8).write(to: folder.file())
        let before = try theirs(text)
        folder.prefs()["a"] = 1
        #expect(folder.prefs().ints == ["a": 1])
        #expect(try theirs(String(decoding: Data(contentsOf: folder.file()), as: UTF8.self)) == before)
    }

    @Test(arguments: [
        "<string>a\u{1}b</string>", "<array><string>&#xFEFF;x</string></array>", "<string>a\u{0}</string>",
        "<dict><key>\u{FFFE}</key><true/></dict>", "<date>10000-01-01T00:00:00Z</date>",
    ])
    func xmlThatCannotBeWrittenForEverybodyStaysAndStopsNoWrite(_ element: String) throws {
        try Data("<plist version=\"1.0\"><dict><key>theirs</key>\(element)</dict></plist>".utf8).write(
            to: folder.file())
        let prefs = folder.prefs()
        #expect(prefs.values.isEmpty && prefs.outcome == "ok")
        let theirs = try ContentCoder.decode(Data(contentsOf: folder.file())).content["theirs"]
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        let after = try ContentCoder.decode(Data(contentsOf: folder.file()))
        #expect(after.format == .plainXML && theirs == after.content["theirs"])
        #expect(folder.prefs().ints == ["a": 1])

        // A value that is not in the file yet is rejected.
        let bytes = try Data(contentsOf: folder.file())
        for key in ["a", "b"] {
            prefs[key] = theirs?.object
            #expect(prefs.outcome.hasSuffix(" cannot be stored in XML; the stored state is unchanged"))
            #expect(try Data(contentsOf: folder.file()) == bytes)
        }
        prefs["b"] = 2
        #expect(prefs.outcome == "ok")
    }

    // MARK: - Keys that Swift takes for one

    private static let twins = "the keys \"é\" (U+00E9) and \"é\" (U+0065 U+0301) differ only in Unicode normalization"

    private static func xmlOfTwins(_ before: String = "", _ after: String = "") -> Data {
        let pair = "<key>\u{E9}</key><integer>1</integer><key>e\u{301}</key><integer>2</integer>"
        return Data("<plist version=\"1.0\"><dict>\(before)\(pair)\(after)</dict></plist>".utf8)
    }

    /// Two spellings of a key at the top, in a root of another program, in the own root, and deep in a list.
    @Test(arguments: [
        (xmlOfTwins(), twins), (xmlOfTwins("<key>theirs</key><dict>", "</dict>"), twins),
        (xmlOfTwins("<key>AnyPrefs</key><dict>", "</dict>"), twins),
        (xmlOfTwins("<key>x</key><array><dict>", "</dict></array>"), twins),
        (BinaryList([[0xD2, 1, 4, 2, 3], [0x61, 0, 0xE9], [0x09], [0x08], [0x62, 0, 0x65, 3, 1]]).data, twins),
        (
            BinaryList([[0xD1, 1, 2], [0x51, 0x61], [0x61, 0xD8, 0]]).data,
            "a string has an unpaired surrogate, which a write would replace"
        ),
    ])
    func whatAWriteWouldLoseStopsEveryWrite(_ bytes: Data, _ loss: String) throws {
        try bytes.write(to: folder.file())
        let prefs = folder.prefs()
        #expect(prefs.outcome == "ok")
        prefs["a"] = 1
        #expect(prefs.outcome.contains(loss), "\(prefs.outcome)")
        #expect(prefs.outcome.hasSuffix("the stored state is unchanged"))
        #expect(prefs.update { $0["b"] = 2 }.failure != nil)
        #expect(try Data(contentsOf: folder.file()) == bytes)
    }

    /// A bit that has flipped makes two keys equal: it is damage like any other, and the last good copy has both
    /// values.
    @Test func aFlippedBitThatMakesTwoKeysEqualIsMended() throws {
        let prefs = folder.prefs()
        prefs.update { $0 = ["a": 1, "c": 2] }
        var bytes = try Data(contentsOf: folder.file())
        let key = try #require(bytes.range(of: Data([0x51, UInt8(ascii: "c")])))
        bytes[key.upperBound - 1] ^= 2
        try bytes.write(to: folder.file())
        #expect(folder.prefs().values as? [String: Int] == ["a": 1, "c": 2])
        prefs["b"] = 3
        #expect(prefs.outcome.contains("the key \"a\" occurs twice") && prefs.lastError?.isWarning == true)
        #expect(folder.prefs().values as? [String: Int] == ["a": 1, "b": 3, "c": 2])
        prefs["b"] = 4
        #expect(prefs.outcome == "ok")
    }

    /// A UID cannot be stored, not even one that was read.
    @Test func aUIDCannotBeStored() throws {
        let bytes = BinaryList([
            [0xD1, 1, 2], [0x58] + Array("AnyPrefs".utf8), [0xD1, 3, 4], [0x51, 0x61], [0x80, 5],
        ]).data
        try bytes.write(to: folder.file())
        let prefs = folder.prefs()
        let uid = try #require(prefs["a"])
        prefs["b"] = uid
        #expect(prefs.outcome == "b: a reference of a keyed archive cannot be stored")
        prefs["b"] = ["CF$UID": 5]
        #expect(prefs.outcome.hasPrefix("b: a dictionary of a lone number CF$UID"))
        prefs["c"] = 1
        #expect(prefs.outcome == "ok")
        #expect(
            try exactForm(PropertyListCoder.decode(Data(contentsOf: folder.file())).value.object)
                == "{'AnyPrefs': {'a': UID 5, 'c': 1}}")
    }
}
