import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import PrefsDocuments

/// A write of an XML property list changes the text of the values that it changes, and nothing else.
@Suite struct XMLTextTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let expected: String
        /// The new values; null stands for a removed one.
        let changes: [String: StoredValue]

        init(_ name: String, _ text: String, _ expected: String, _ changes: [String: StoredValue]) {
            (self.name, self.text, self.expected, self.changes) = (name, text, expected, changes)
        }

        var testDescription: String { name }
    }

    /// A list in the layout of Foundation.
    private static func list(_ content: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \(content)
        </dict>
        </plist>

        """
    }

    private static let kept = [
        Case(
            "several comments in a row, also at the end",
            list(
                "\t<!-- 1 --> <!-- 2 -->\n\t<key>a</key> <!-- 3 -->\n\t<!-- 4 -->\n\t<true/> <!-- 5 --><!-- 6 -->\n"
                    + "\t<key>b</key>\n\t<integer>1</integer>\n\t<!-- 7 -->\n\t<!-- 8 -->\n\t<!-- 9 -->"),
            list(
                "\t<!-- 1 --> <!-- 2 -->\n\t<key>a</key> <!-- 3 -->\n\t<!-- 4 -->\n\t<false/> <!-- 5 --><!-- 6 -->\n"
                    + "\t<key>b</key>\n\t<integer>2</integer>\n\t<!-- 7 -->\n\t<!-- 8 -->\n\t<!-- 9 -->"),
            ["a": .bool(false), "b": .integer(2)]),
        Case(
            "order stays", list("\t<key>b</key>\n\t<integer>1</integer>\n\t<key>a</key>\n\t<true/>"),
            list("\t<key>b</key>\n\t<integer>2</integer>\n\t<key>a</key>\n\t<true/>"), ["b": .integer(2)]),
        Case(
            "comments stay in all places",
            "<!-- 1 --><plist><!-- 2 --><dict><!-- 3 -->\n  <!-- 4 -->\n  <key>a<!-- 5 --></key><!-- 6 -->\n"
                + "  <string>x</string> <!-- 7 -->\n  <!-- 8 -->\n</dict><!-- 9 --></plist><!-- 0 -->",
            "<!-- 1 --><plist><!-- 2 --><dict><!-- 3 -->\n  <!-- 4 -->\n  <key>a<!-- 5 --></key><!-- 6 -->\n"
                + "  <string>y</string> <!-- 7 -->\n  <key>b</key>\n  <true/>\n  <!-- 8 -->\n</dict><!-- 9 --></plist>"
                + "<!-- 0 -->", ["a": .string("y"), "b": .bool(true)]),
        Case(
            "the line ends of Windows stay",
            list("\t<key>b</key>\n\t<true/>\n\t<key>a</key>\n\t<array>\n\t\t<string>x</string>\n\t</array>")
                .replacing("\n", with: "\r\n"),
            list(
                "\t<key>b</key>\n\t<true/>\n\t<key>a</key>\n\t<array>\n\t\t<string>x</string>\n"
                    + "\t\t<string>y</string>\n\t</array>"
            ).replacing("\n", with: "\r\n"), ["a": .array([.string("x"), .string("y")])]),
        Case(
            "references, CDATA and texts of numbers stay",
            list(
                "\t<key>&#97;&amp;</key>\n\t<string>a &lt; b&#10;<![CDATA[<x>&\r\n]]></string>\n\t<key>n</key>\n"
                    + "\t<real>1.50</real>\n\t<key>h</key>\n\t<integer>0x1F</integer>\n\t<key>z</key>\n\t<true/>"),
            list(
                "\t<key>&#97;&amp;</key>\n\t<string>a &lt; b&#10;<![CDATA[<x>&\r\n]]></string>\n\t<key>n</key>\n"
                    + "\t<real>1.50</real>\n\t<key>h</key>\n\t<integer>0x1F</integer>\n\t<key>z</key>\n\t<false/>"),
            ["z": .bool(false)]),
        Case(
            "both spellings of an empty element stay",
            list("\t<key>a</key>\n\t<string/>\n\t<key>b</key>\n\t<string></string>\n\t<key>c</key>\n\t<true />"),
            list("\t<key>a</key>\n\t<string/>\n\t<key>b</key>\n\t<string></string>\n\t<key>c</key>\n\t<false />"),
            ["c": .bool(false)]),
    ]

    @Test(arguments: kept) func whatDoesNotChangeKeepsItsText(_ example: Case) throws {
        try expectChange(example)
    }

    private static let changedValues = [
        Case(
            "a changed Boolean keeps its spelling", list("\t<key>c</key>\n\t<true></true>"),
            list("\t<key>c</key>\n\t<false></false>"), ["c": .bool(false)]),
        Case(
            "attributes stay", list("\t<key>c</key>\n\t<string xml:space='preserve'>a</string>"),
            list("\t<key>c</key>\n\t<string xml:space='preserve'>b</string>"), ["c": .string("b")]),
        Case(
            "into an empty element", list("\t<key>c</key>\n\t<dict id='1' />"),
            list("\t<key>c</key>\n\t<dict id='1'>\n\t\t<key>x</key>\n\t\t<integer>1</integer>\n\t</dict>"),
            ["c": .dictionary(["x": .integer(1)])]),
        Case(
            "data keep their lines",
            list("\t<key>a</key>\n\t<data>\n\tAAEC\n\t</data>\n\t<key>b</key>\n\t<data>AA==</data>"),
            list("\t<key>a</key>\n\t<data>\n\tAgEC\n\t</data>\n\t<key>b</key>\n\t<data>Ag==</data>"),
            ["a": .data(Data([2, 1, 2])), "b": .data(Data([2]))]),
        Case(
            "into an empty element of several lines", list("\t<key>c</key>\n\t<array\n\t\tid='1'\n\t/>"),
            list("\t<key>c</key>\n\t<array\n\t\tid='1'>\n\t\t<true/>\n\t</array>"), ["c": .array([.bool(true)])]),
        Case(
            "lines of data end at column 76, also behind spaces",
            list("        <key>a</key>\n        <data>\n        AA==\n        </data>"),
            list(
                "        <key>a</key>\n        <data>\n        \(String(repeating: "AQEB", count: 17))\n"
                    + "        \(String(repeating: "AQEB", count: 3))\n        </data>"),
            ["a": .data(Data(repeating: 1, count: 60))]),
        Case(
            "an empty key", list("\t<key/> <!-- 1 -->\n\t<integer>1</integer>\n\t<key>a</key>\n\t<true/>"),
            list("\t<key/> <!-- 1 -->\n\t<integer>2</integer>\n\t<key>a</key>\n\t<true/>"), ["": .integer(2)]),
        Case(
            "a list without <plist>", "<!-- 1 --><dict><key>a</key><true/></dict><!-- 2 -->",
            "<!-- 1 --><dict><key>a</key><false/></dict><!-- 2 -->", ["a": .bool(false)]),
    ]

    @Test(arguments: changedValues) func aChangedElementKeepsItsSpelling(_ example: Case) throws {
        try expectChange(example)
    }

    private static let layouts = [
        Case(
            "values on the line of their key", list("  <key>b</key><true/>\n  <key>a</key> <string>x</string>"),
            list("  <key>b</key><false/>\n  <key>a</key> <string>x</string>\n  <key>0</key><true/>"),
            ["b": .bool(false), "0": .bool(true)]),
        Case(
            "the members of a new value, too", list("  <key>b</key><true/>\n  <key>a</key> <string>x</string>"),
            list(
                "  <key>b</key><true/>\n  <key>a</key> <string>x</string>\n  <key>c</key><dict>\n    <key>d</key><true/>\n"
                    + "    <key>e</key> <string>y</string>\n  </dict>"),
            ["c": .dictionary(["d": .bool(true), "e": .string("y")])]),
        Case(
            "a new value is laid out as the first of its kind",
            list("\t<key>b</key>\n\t<string>x</string>\n\t<key>a</key><true/>"),
            list(
                "\t<key>b</key>\n\t<string>x</string>\n\t<key>a</key><true/>\n\t<key>c</key>\n\t<string>y</string>\n"
                    + "\t<key>d</key><false/>"), ["c": .string("y"), "d": .bool(false)]),
        Case(
            "a new array is laid out as an array, not as a text",
            list("  <key>b</key> <string>x</string>\n  <key>a</key>\n  <array>\n    <true/>\n  </array>"),
            list(
                "  <key>b</key> <string>x</string>\n  <key>a</key>\n  <array>\n    <true/>\n  </array>\n"
                    + "  <key>c</key>\n  <array>\n    <false/>\n  </array>\n  <key>d</key> <string>y</string>"),
            ["c": .array([.bool(false)]), "d": .string("y")]),
        Case(
            "into an empty list", "<plist version=\"1.0\">\n<dict/>\n</plist>",
            "<plist version=\"1.0\">\n<dict>\n\t<key>x</key>\n\t<array>\n\t\t<date>2001-01-01T00:00:00Z</date>\n"
                + "\t</array>\n</dict>\n</plist>", ["x": .array([.date(Date(timeIntervalSinceReferenceDate: 0))])]),
        Case(
            "on one line", "<plist><dict><key>a</key><array><string>x</string></array></dict></plist>",
            "<plist><dict><key>a</key><array><string>x</string><string>y</string></array>"
                + "<key>b</key><dict><key>c</key><true/></dict></dict></plist>",
            ["a": .array([.string("x"), .string("y")]), "b": .dictionary(["c": .bool(true)])]),
        Case(
            "values that are indented more than their keys",
            list(
                "\t<key>b</key>\n\t\t<dict>\n\t\t\t<key>x</key>\n\t\t\t\t<true/>\n\t\t</dict>\n\t<key>c</key>\n\t\t<true/>"
            ),
            list(
                "\t<key>b</key>\n\t\t<dict>\n\t\t\t<key>x</key>\n\t\t\t\t<true/>\n\t\t\t<key>y</key>\n\t\t\t\t<array>\n"
                    + "\t\t\t\t\t<integer>1</integer>\n\t\t\t\t</array>\n\t\t</dict>\n\t<key>c</key>\n\t\t<array>\n"
                    + "\t\t\t<integer>2</integer>\n\t\t</array>\n\t<key>d</key>\n\t\t<false/>"),
            [
                "b": .dictionary(["x": .bool(true), "y": .array([.integer(1)])]), "c": .array([.integer(2)]),
                "d": .bool(false),
            ]),
        Case(
            "an indented list", "<plist>\n    <dict>\n        <key>a</key>\n        <array/>\n    </dict>\n</plist>\n",
            "<plist>\n    <dict>\n        <key>a</key>\n        <array>\n            <integer>1</integer>\n        </array>\n"
                + "    </dict>\n</plist>\n", ["a": .array([.integer(1)])]),
    ]

    @Test(arguments: layouts) func aNewValueIsLaidOutAsItsNeighborsAre(_ example: Case) throws {
        try expectChange(example)
    }

    private static let keys = [
        Case(
            "a new key of sorted keys comes in its place",
            list("\t<key>a</key>\n\t<true/>\n\t<key>c</key>\n\t<true/>"),
            list("\t<key>a</key>\n\t<true/>\n\t<key>b</key>\n\t<integer>1</integer>\n\t<key>c</key>\n\t<true/>"),
            ["b": .integer(1)]),
        Case(
            "several new keys of sorted keys, too",
            list("\t<key>a</key>\n\t<true/>\n\t<key>d</key>\n\t<true/>"),
            list(
                ["a", "b", "c", "d", "e", "f"].map { "\t<key>\($0)</key>\n\t<true/>" }.joined(separator: "\n")),
            ["b": .bool(true), "c": .bool(true), "e": .bool(true), "f": .bool(true)]),
        Case(
            "a renamed key keeps its place",
            list("\t<key>b</key> <!-- b -->\n\t<string>x</string>\n\t<key>a</key>\n\t<true/>"),
            list("\t<key>c</key> <!-- b -->\n\t<string>x</string>\n\t<key>a</key>\n\t<true/>"),
            ["b": .null, "c": .string("x")]),
    ]

    @Test(arguments: keys) func aKeyHasItsPlace(_ example: Case) throws {
        try expectChange(example)
    }

    private static let removedKeys = [
        Case(
            "a removed key takes its lines along",
            list("\t<key>a</key>\n\t<true/> <!-- a -->\n\t<key>c</key>\n\t<true/>"), list("\t<key>c</key>\n\t<true/>"),
            ["a": .null]),
        Case(
            "the comment above a removed key stays", list("\t<!-- why -->\n\t<key>a</key>\n\t<true/>"),
            list("\t<!-- why -->"), ["a": .null]),
        Case(
            "the comments above several removed keys stay, in their order",
            list(
                "\t<!-- a -->\n\t<key>a</key>\n\t<true/>\n\t<!-- b -->\n\t<key>b</key>\n\t<true/>\n\t<key>c</key>\n"
                    + "\t<true/>\n\t<!-- d -->\n\t<key>d</key>\n\t<true/>\n\t<!-- e -->\n\t<key>e</key>\n\t<true/>"),
            list("\t<!-- a -->\n\t<!-- b -->\n\t<key>c</key>\n\t<true/>\n\t<!-- d -->\n\t<!-- e -->"),
            ["a": .null, "b": .null, "d": .null, "e": .null]),
        Case(
            "the only key", list("\t<key>c</key>\n\t<true/>"),
            list("").replacing("<dict>\n\n</dict>", with: "<dict>\n</dict>"),
            ["c": .null]),
    ]

    @Test(arguments: removedKeys) func aRemovedKeyTakesItsLinesAlong(_ example: Case) throws {
        try expectChange(example)
    }

    private func expectChange(_ example: Case, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let former = try XMLText.members(of: Data(example.text.utf8))
        var new = former
        for (key, value) in example.changes { new[key] = value.isNull ? nil : value }
        let changed = try XMLText.changed(Data(example.text.utf8), from: former, to: new)
        let difference = LineDifference.first(
            expected: example.expected, found: String(decoding: changed, as: UTF8.self))
        #expect(difference == nil, "\(example.name)", sourceLocation: sourceLocation)
        #expect(try XMLText.members(of: changed) == new, "\(example.name)", sourceLocation: sourceLocation)
    }

    @Test(
        arguments: [
            ("UTF-16LE", [0xFF, 0xFE]), ("UTF-16BE", [0xFE, 0xFF]), ("UTF-16LE", []), ("UTF-16BE", []),
            ("ISO-8859-1", []),
            ("US-ASCII", []), ("UTF-8", [0xEF, 0xBB, 0xBF]),
        ] as [(String, [UInt8])])
    func theEncodingStays(name: String, mark: [UInt8]) throws {
        func bytes(_ text: String) -> Data {
            switch name {
            case "UTF-16LE": Data(mark + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
            case "UTF-16BE": Data(mark + text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] })
            case "ISO-8859-1": Data(text.unicodeScalars.map { UInt8($0.value) })
            default: Data(mark + text.utf8)
            }
        }
        let declared = name.hasPrefix("UTF-16") ? "UTF-16" : name
        func list(_ euro: String) -> Data {
            let known = name == "US-ASCII" ? "u" : "ü"
            return bytes(
                "<?xml version=\"1.0\" encoding=\"\(declared)\"?>\n<plist><dict>\n<!-- \(known) -->\n<key>\(known)</key>"
                    + "\(euro)\n</dict></plist>\n")
        }
        let former = try XMLText.members(of: list("<true/>"))
        let key = try #require(former.keys.first)
        let changed = try XMLText.changed(list("<true/>"), from: former, to: [key: .string("€é")])
        let written =
            switch name {
            case "US-ASCII": "&#8364;&#233;"
            case "ISO-8859-1": "&#8364;é"
            default: "€é"
            }
        #expect(changed == list("<string>\(written)</string>"))
        #expect(try XMLText.members(of: changed) == [key: .string("€é")])
    }

    @Test func aValueThatXMLCannotHoldIsRejectedWithItsPlace() throws {
        let text = Data("<plist><dict><key>a</key><array><string>\u{7}</string></array></dict></plist>".utf8)
        let former = try XMLText.members(of: text)
        let list = { (last: String) in ["a": StoredValue.array([.string("\u{7}"), .string(last)])] }
        #expect(try XMLText.members(of: XMLText.changed(text, from: former, to: list("x"))) == list("x"))
        let error = #expect(throws: PropertyListFailure.self) {
            try XMLText.changed(text, from: former, to: list("\u{8}"))
        }
        #expect(error.map { "\($0)" } == "a[1]: the control character U+0008 cannot be stored in XML")
        #expect(error?.topLevelKey == "a")
    }

    /// As a whole, in a part, and under a new key.
    @Test(
        arguments: [
            ("<true/>", "a.b.c", .dictionary(["b": .dictionary(["c": .string("\u{8}")])])),
            (
                "<dict><key>b</key><true/></dict>", "a.b[0].c",
                .dictionary(["b": .array([.dictionary(["c": .string("\u{8}")])])])
            ),
            ("<array><true/></array>", "a[0].c", .array([.dictionary(["c": .string("\u{8}")])])),
            ("<array/>", "a[0][0]", .array([.array([.string("\u{8}")])])),
        ] as [(String, String, StoredValue)])
    func thePathOfWhatIsRejectedIsWhole(_ element: String, _ path: String, _ value: StoredValue) throws {
        let text = Data("<plist><dict><key>a</key>\(element)</dict></plist>".utf8)
        let former = try XMLText.members(of: text)
        let error = #expect(throws: PropertyListFailure.self) {
            try XMLText.changed(text, from: former, to: ["a": value])
        }
        #expect(error?.path == path && error?.topLevelKey == "a")
    }

    /// No reader would read it again. The containers around a part count.
    @Test func aPartBeyondTheLimitIsRejected() throws {
        func nested(_ innermost: StoredValue) -> StoredValue {
            (0..<79).reduce(innermost) { inner, _ in .array([inner]) }
        }
        let former = ["a": nested(.bool(true))]
        let text = try FileFormat.xml.coder.bytes(from: .dictionary(former), replacing: nil, written: nil).joined
        for innermost in [StoredValue.array([]), .integer(5)] {
            let new = ["a": nested(innermost)]
            #expect(try XMLText.members(of: XMLText.changed(text, from: former, to: new)) == new)
        }
        for innermost in [
            StoredValue.array([.integer(5)]), .uid(KeyedArchiveUID(value: 1)), .dictionary(["k": .bool(true)]),
        ] {
            let error = #expect(throws: PropertyListFailure.self) {
                try XMLText.changed(text, from: former, to: ["a": nested(innermost)])
            }
            #expect(error?.reason == "nested deeper than 80 levels")
        }
    }

    /// What a write returns is what the next process reads.
    @Test func aContentOfXMLHasWholeSeconds() {
        func content(_ seconds: Double) -> [String: StoredValue] {
            ["a": .array([.date(Date(timeIntervalSinceReferenceDate: seconds))])]
        }
        #expect(FileFormat.xml.coder.storable(content(1.5)).isEqual(to: content(1)))
        #expect(FileFormat.xml.coder.storable(content(-0.5)).isEqual(to: content(-1)))
    }

    /// The last of two equal keys counts, as in a lenient reading.
    @Test func theLineOfAKeyIsTheLastOne() {
        let text = Data(
            "<plist>\n<dict>\n<key>a</key><true/>\n<key>b</key>\n<true/><key>a</key><array>\n</array></dict></plist>"
                .utf8)
        let lines = text.withUnsafeBytes { bytes in ["a", "b", "c"].map { XMLSyntax(bytes).line(ofKey: $0) } }
        #expect(lines == [5, 4, nil])
    }

    /// A dictionary whose only member becomes the number of a reference of a keyed archive.
    @Test func aNumberThatWouldBeAReferenceIsRejected() throws {
        let text = Data("<plist><dict><key>a</key><dict><key>CF$UID</key><string>1</string></dict></dict></plist>".utf8)
        let former = try XMLText.members(of: text)
        for number in [StoredValue.integer(1), .real(1)] {
            #expect(throws: PropertyListFailure.self) {
                try XMLText.changed(text, from: former, to: ["a": .dictionary(["CF$UID": number])])
            }
        }
        let other = ["a": StoredValue.dictionary(["CF$UID": .integer(1), "b": .bool(true)])]
        #expect(try XMLText.members(of: XMLText.changed(text, from: former, to: other)) == other)
    }
}

/// An XML property list before and after a change, for the suites of its text.
enum XMLText {
    static func members(of text: Data) throws -> [String: StoredValue] {
        try #require(try PropertyListCoder.decode(text).value.dictionary)
    }

    static func changed(
        _ text: Data, from former: [String: StoredValue], to new: [String: StoredValue]
    ) throws -> Data {
        try FileFormat.xml.coder.bytes(from: .dictionary(new), replacing: .dictionary(former), written: text).joined
    }
}
