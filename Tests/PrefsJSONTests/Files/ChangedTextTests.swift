import Foundation
import PersistentPreferences
import PrefsPropertyLists
import PrefsStoreKit
import Testing
import TestSupport

@testable import PrefsJSON

/// A write changes the text of the values that it changes, and nothing else of a person's file.
@Suite final class ChangedTextTests: FolderSuite {
    struct Case: @unchecked Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let expected: String
        /// The new values; nil stands for a removed one.
        let changes: [String: Any?]

        init(_ name: String, _ text: String, _ expected: String, _ changes: [String: Any?]) {
            (self.name, self.text, self.expected, self.changes) = (name, text, expected, changes)
        }

        var testDescription: String { name }
    }

    static let cases = kept + newKeys + removedKeys + lists + containers + comments

    private static let kept = [
        Case(
            "order and indentation stay", "{\n\t\"b\": 1,\n\t\"a\": {\"x\": 1.50, \"y\": [1,2]}\n}",
            "{\n\t\"b\": 2,\n\t\"a\": {\"x\": 1.50, \"y\": [1,2]}\n}", ["b": 2]),
        Case(
            "escapes, numbers and a missing final newline stay",
            #"{"url": "a\/b", "e": "\u00e9", "n": 1e2, "z": 0.10}"#,
            #"{"url": "a\/b", "e": "\u00e9", "n": 1e2, "z": 0.2}"#, ["z": 0.2]),
        Case(
            "nulls stay", "{\"b\":1,\"deep\":{\"x\":null},\"n\":null}", "{\"b\":2,\"deep\":{\"x\":null},\"n\":null}",
            ["b": 2]),
        Case("a null gets a value", "{\"b\": null, \"a\": 1}", "{\"b\": true, \"a\": 1}", ["b": true]),
        Case(
            "a lone key that resembles a form", "{\"o\": {\"$$data\": 1}, \"a\": 1}",
            "{\"o\": {\"$data\": 2}, \"a\": 1}", ["o": ["$data": 2]]),
        Case("a key in escapes", #"{"\u0061": 1, "b": 2}"#, #"{"\u0061": 3, "b": 2}"#, ["a": 3]),
    ]

    @Test(arguments: kept) func whatDoesNotChangeKeepsItsSpelling(_ test: Case) throws {
        try expectChange(test)
    }

    private static let newKeys = [
        Case(
            "a new key of a sorted object comes in its place", "{\n  \"a\": 1,\n  \"c\": 3\n}\n",
            "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", ["b": 2]),
        Case(
            "several new keys of a sorted object, too", "{\n  \"a\": 1,\n  \"d\": 4,\n  \"h\": 8\n}\n",
            "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3,\n  \"d\": 4,\n  \"e\": 5,\n  \"f\": 6,\n  \"g\": 7,\n"
                + "  \"h\": 8,\n  \"i\": 9,\n  \"j\": 0\n}\n",
            ["b": 2, "c": 3, "e": 5, "f": 6, "g": 7, "i": 9, "j": 0]),
        Case(
            "else at the end", "{\n  \"z\": 1,\n  \"c\": 3\n}\n", "{\n  \"z\": 1,\n  \"c\": 3,\n  \"b\": 2\n}\n",
            ["b": 2]),
        Case("first on one line", "{\"b\": 1, \"c\": 2}", "{\"a\": 0, \"b\": 1, \"c\": 2}", ["a": 0]),
        Case("first on one line, without blanks", "{\"b\":1}", "{\"a\":0, \"b\":1}", ["a": 0]),
        Case("into an empty file", "{}", "{\n  \"x\": 1\n}", ["x": 1]),
        Case("with a comma after the last", "{\n  \"b\": 1,\n}\n", "{\n  \"b\": 1,\n  \"c\": 2,\n}\n", ["c": 2]),
        Case(
            "of two removed keys with the new value, none is renamed",
            "{\n  \"b\": 1, // b\n  \"z\": 0,\n  \"a\": 1 // a\n}\n", "{\n  \"z\": 0,\n  \"c\": 1\n}\n",
            ["a": nil, "b": nil, "c": 1]),
    ]

    @Test(arguments: newKeys) func aNewKeyComesInItsPlace(_ test: Case) throws {
        try expectChange(test)
    }

    private static let removedKeys = [
        Case("the last key goes with its comma", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1\n}\n", ["b": nil]),
        Case("the first key goes with its line", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"b\": 2\n}\n", ["a": nil]),
        Case("the first key of a line", "{ \"a\": 1, \"b\": 2 }", "{ \"b\": 2 }", ["a": nil]),
        Case("the only key", "{\n  \"a\": 1\n}\n", "{}\n", ["a": nil]),
    ]

    @Test(arguments: removedKeys) func aRemovedKeyGoesWithItsLine(_ test: Case) throws {
        try expectChange(test)
    }

    private static let lists = [
        Case("an element in the middle", "{\"l\": [1, 2,  4]}", "{\"l\": [1, 2, 3,  4]}", ["l": [1, 2, 3, 4]]),
        Case(
            "a member of an element", "{\"l\": [\n  {\"n\":\"a\" , \"v\":1},\n  {\"n\":\"b\" , \"v\":2}\n]}",
            "{\"l\": [\n  {\"n\":\"a\" , \"v\":1},\n  {\"n\":\"b\" , \"v\":3}\n]}",
            ["l": [["n": "a", "v": 1], ["n": "b", "v": 3]]]),
        Case(
            "elements are appended as their neighbors are", "{\"l\": [\n    1,\n    2\n  ]}",
            "{\"l\": [\n    1,\n    2,\n    3\n  ]}", ["l": [1, 2, 3]]),
        Case("elements are removed", "{\"l\": [1, 2, 3]}", "{\"l\": [3]}", ["l": [3]]),
        Case(
            "a list that begins on the line of its bracket", "{\"l\": [1, 2,\n  3]}", "{\"l\": [1, 2,\n  3,\n  4]}",
            ["l": [1, 2, 3, 4]]),
    ]

    @Test(arguments: lists) func elementsAreWrittenAsTheirNeighborsAre(_ test: Case) throws {
        try expectChange(test)
    }

    private static let containers = [
        Case(
            "a byte-order mark and the line ends of Windows stay",
            "\u{FEFF}{\r\n    \"b\": 1,\r\n    \"a\": 2\r\n}\r\n",
            "\u{FEFF}{\r\n    \"b\": 1,\r\n    \"a\": 2,\r\n    \"c\": {\r\n        \"x\": 1\r\n    }\r\n}\r\n",
            ["c": ["x": 1]]),
        Case(
            "into an empty object", "{\n    \"o\": {}\n}\n", "{\n    \"o\": {\n        \"x\": 1\n    }\n}\n",
            ["o": ["x": 1]]),
        Case(
            "into empty ones on one line", "{\"o\": {}, \"l\": []}", "{\"o\": {\"x\": 1}, \"l\": [1, 2]}",
            ["o": ["x": 1], "l": [1, 2]]),
        Case(
            "a container replaces a number", "{\n  \"a\" : 1,\n  \"b\" : 2\n}",
            "{\n  \"a\" : [\n    1\n  ],\n  \"b\" : 2\n}", ["a": [1]]),
        Case(
            "a new container is on one line as the others are", "{\n  \"a\": {\"x\": 1},\n  \"b\": [1]\n}\n",
            "{\n  \"a\": {\"x\": 1},\n  \"b\": [1],\n  \"c\": {\"y\": [2, 3]}\n}\n", ["c": ["y": [2, 3]]]),
        Case(
            "unless one of them has lines", "{\n  \"a\": {\"x\": 1},\n  \"b\": [\n    1\n  ]\n}\n",
            "{\n  \"a\": {\"x\": 1},\n  \"b\": [\n    1\n  ],\n  \"c\": {\n    \"y\": 2\n  }\n}\n", ["c": ["y": 2]]),
        Case(
            "an empty container shows no style", "{\n  \"a\": {},\n  \"b\": 1\n}\n",
            "{\n  \"a\": {},\n  \"b\": 1,\n  \"c\": {\n    \"x\": 1\n  }\n}\n", ["c": ["x": 1]]),
        Case(
            "a container in a file without indentation", "{\n\"a\": 1\n}\n",
            "{\n\"a\": 1,\n\"b\": {\n  \"x\": 1\n}\n}\n", ["b": ["x": 1]]),
        Case(
            "a container in place of a number in a line of its own", "{\n  \"a\": 1,\n      \"b\": 2\n}\n",
            "{\n  \"a\": 1,\n      \"b\": {\n        \"x\": 1\n      }\n}\n", ["b": ["x": 1]]),
    ]

    @Test(arguments: containers) func aContainerIsIndentedAsTheTextIs(_ test: Case) throws {
        try expectChange(test)
    }

    private static let comments = [
        Case(
            "comments stay", "{\n  // about b\n  \"b\": 1, // one\n  /* a */ \"a\": [1, 2,],\n}\n",
            "{\n  // about b\n  \"b\": 2, // one\n  /* a */ \"a\": [1, 2,],\n}\n", ["b": 2]),
        Case(
            "right behind a value", "{\"a\": 1/* one */, \"b\": true// two\n}",
            "{\"a\": 3/* one */, \"b\": false// two\n}",
            ["a": 3, "b": false]),
        Case(
            "a new last key after a comment", "{\n  \"b\": 1 // one\n}\n", "{\n  \"b\": 1, // one\n  \"c\": 2\n}\n",
            ["c": 2]),
        Case(
            "a removed key goes with its comment", "{\n  \"a\": 1, // one\n  // about b\n  \"b\": 2\n}\n",
            "{\n  // about b\n  \"b\": 2\n}\n", ["a": nil]),
        Case(
            "a comment above a removed key stays",
            "{\n  // about a\n  \"a\": 1,\n  \"b\": 2, // two\n  /* c */\n  \"c\": 3\n}\n",
            "{\n  // about a\n  \"b\": 2 // two\n  /* c */\n}\n", ["a": nil, "c": nil]),
        Case(
            "the comments above several removed keys stay, in their order",
            "{\n  // a\n  \"a\": 1,\n  /* b */\n  \"b\": 2,\n  \"c\": 3,\n  // d\n  \"d\": 4,\n  // e\n  \"e\": 5\n}\n",
            "{\n  // a\n  /* b */\n  \"c\": 3\n  // d\n  // e\n}\n", ["a": nil, "b": nil, "d": nil, "e": nil]),
        Case(
            "in lines of Windows, too", "{\r\n  \"a\": 1,\r\n  // b\r\n  \"b\": 2 // c\r\n}\r\n",
            "{\r\n  \"a\": 1\r\n  // b\r\n}\r\n", ["b": nil]),
        Case(
            "a comment of several lines that ends on the line of a removed key",
            "{\n  /* x\n     y */ \"b\": 2,\n  \"c\": 3, /* z */ \"d\": 4\n}\n",
            "{\n  /* x\n     y */\n  \"c\": 3, /* z */ \"d\": 4\n}\n", ["b": nil]),
        Case(
            "a comment of several lines behind a removed key",
            "{\n  \"a\": 1, // c\n  \"b\": 2, /* b\n x */\n  \"c\": 1\n}\n",
            "{\n  \"a\": 1, // c\n  /* b\n x */\n  \"c\": 1\n}\n", ["b": nil]),
        Case(
            "behind the only key", "{\n  // c\n  \"b\": 2 /* b\n x */\n}\n", "{\n  // c\n/* b\n x */\n}\n", ["b": nil]),
        Case("behind an element", "{\"a\":[1,\n // c\n2 /* b\n x */]}", "{\"a\":[1\n // c\n/* b\n x */]}", ["a": [1]]),
        Case(
            "a new key has no comment of its neighbor", "{\n  \"a\": /* int */ 1,\n  \"b\": \"x\"\n}\n",
            "{\n  \"a\": /* int */ 1,\n  \"b\": \"x\",\n  \"c\": 2\n}\n", ["c": 2]),
        Case("of the only key, too", "{\n  // a\n  \"a\": 1 // one\n}", "{\n  // a\n}", ["a": nil]),
        Case(
            "an element after a comment on its line", "{\"l\": [1, // one\n 2, 3]}", "{\"l\": [1, // one\n 3]}",
            ["l": [1, 3]]),
        Case(
            "a comment before the bracket stays without an item", "{\n  \"a\": 1\n  // end\n}\n", "{\n  // end\n}\n",
            ["a": nil]),
        Case(
            "a comment before the new first key of a line", "{\"a\": 1, /* b */ \"b\": 2}", "{ /* b */ \"b\": 2}",
            ["a": nil]),
        Case(
            "a comment that begins with a slash", "{\"a\": 1 /*/ x, */, \"b\": 2}", "{\"a\": 1 /*/ x, */, \"b\": 3}",
            ["b": 3]),
    ]

    @Test(arguments: comments) func aCommentStaysUnlessItIsThatOfARemovedKey(_ test: Case) throws {
        try expectChange(test)
    }

    private func expectChange(_ test: Case, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try put(test.text)
        try PrefsStore.json(url: url, durability: .crash).update(root: "R") { values in
            var changed = values ?? [:]
            for (key, value) in test.changes { changed[key] = value }
            values = changed
        }
        let difference = LineDifference.first(expected: test.expected, found: try text())
        #expect(difference == nil, "\(test.name)", sourceLocation: sourceLocation)
    }

    /// Texts in random styles, and random changes: the new text has the new value, and the same change back gives the
    /// former value.
    @Test(arguments: 0..<200) func aRandomChangeOfTheTextIsThatOfTheValue(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let (former, new) = (Self.value(&random), Self.value(&random))
        var style = Style(&random)
        let text = style.text(of: .dictionary(former), "")
        func read(_ data: Data) throws -> StoredValue { try JSONReader.value(of: data, limits: .file) }
        #expect(try read(Data(text.utf8)) == .dictionary(former))
        let changed = try JSONText.bytes(changing: Data(text.utf8), from: .dictionary(former), to: .dictionary(new))
            .joined
        #expect(try read(changed) == .dictionary(new), "\(text)\n\(String(decoding: changed, as: UTF8.self))")
        let back = try JSONText.bytes(changing: changed, from: .dictionary(new), to: .dictionary(former)).joined
        #expect(try read(back) == .dictionary(former))
        let same = try JSONText.bytes(changing: Data(text.utf8), from: .dictionary(former), to: .dictionary(former))
            .joined
        #expect(same == Data(text.utf8))
    }

    /// Two spellings of a key that Unicode calls equal.
    @Test func aKeyIsSpelledAsTheNewValueSpellsIt() throws {
        func value(_ key: String, _ number: Int64) -> StoredValue { .dictionary([key: .integer(number), "b": .null]) }
        let changed = try JSONText.bytes(
            changing: Data("{\"\u{E9}\": 1, \"b\": null}".utf8), from: value("\u{E9}", 1), to: value("e\u{301}", 2)
        ).joined
        #expect(changed == Data("{\"e\u{301}\": 2, \"b\": null}".utf8))
    }

    /// A file that a read would reject is not written.
    /// It was changed since its value was read: one more member, and another one.
    @Test(arguments: [#"{"a": 1, "b": 2}"#, #"{"b": 1}"#])
    func aTextThatHasOtherMembersIsWrittenAsAWhole(_ text: String) throws {
        let new = StoredValue.dictionary(["a": .integer(2)])
        let changed = try JSONText.bytes(changing: Data(text.utf8), from: .dictionary(["a": .integer(1)]), to: new)
            .joined
        #expect(try JSONReader.value(of: changed, limits: .file) == new)
    }

    /// A second copy of a large text would take as much memory again.
    @Test func aLongPartThatStaysIsNotCopied() throws {
        let long = String(repeating: "x", count: 1 << 20)
        func text(_ number: Int) -> Data { Data(#"{"a": "\#(long)", "n": \#(number), "b": "\#(long)"}"#.utf8) }
        func value(_ number: Int64) -> StoredValue {
            .dictionary(["a": .string(long), "n": .integer(number), "b": .string(long)])
        }
        let former = text(1)
        let changed = try JSONText.bytes(changing: former, from: value(1), to: value(2))
        #expect(changed.joined == text(2))
        #expect(changed.parts.dropLast().allSatisfy { $0.count.isMultiple(of: 8) })
        let copied = former.withUnsafeBytes { bytes in
            var copied = 0
            changed.forEachPart { part in
                part.withUnsafeBytes {
                    let isShared =
                        $0.baseAddress.map { bytes.indices.contains($0 - (bytes.baseAddress ?? $0)) } ?? false
                    if !isShared { copied += $0.count }
                }
            }
            return copied
        }
        #expect(copied < 100)
    }

    /// The output has several parts then, which a write joins.
    @Test func aListWhoseElementsAllChangeIsWrittenAnew() throws {
        func text(_ numbers: Range<Int64>) -> Data {
            Data("{\"l\": [ // numbers\n\(numbers.map { "  \($0)" }.joined(separator: ",\n"))\n]}\n".utf8)
        }
        func value(_ numbers: Range<Int64>) -> StoredValue {
            .dictionary(["l": .array(numbers.map(StoredValue.integer))])
        }
        let (former, new) = (0..<Int64(200_000), 1_000_000..<Int64(1_200_000))
        let changed = try JSONText.bytes(changing: text(former), from: value(former), to: value(new), limits: .file)
        #expect(changed.parts.count == 3)
        #expect(changed.joined == text(new))
    }

    @Test func moreValuesThanAReadAcceptsAreRejected() throws {
        var limits = JSONReader.Limits.file
        limits.nodes = 10
        let text = Data("{\"l\":[1,2,3,4,5,6,7]}".utf8)
        func value(_ count: Int64) -> StoredValue { .dictionary(["l": .array((1...count).map(StoredValue.integer))]) }
        func change(to count: Int64) throws -> Data {
            try JSONText.bytes(changing: text, from: value(7), to: value(count), limits: limits).joined
        }
        #expect(try change(to: 8) == Data("{\"l\":[1,2,3,4,5,6,7,8]}".utf8))
        let failure = #expect(throws: PropertyListFailure.self) { try change(to: 9) }
        #expect(failure?.reason == "more than 10 values")
    }

    private static func value(_ random: inout SeededGenerator, depth: Int = 0) -> [String: StoredValue] {
        var members: [String: StoredValue] = [:]
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let key = ["a", "b", "c", "é", "$x", "$date", "long key", "\"", "k/"].randomElement(using: &random) ?? ""
            members[key] = element(&random, depth)
        }
        return members
    }

    private static func element(_ random: inout SeededGenerator, _ depth: Int) -> StoredValue {
        switch Int.random(in: 0..<(depth > 2 ? 6 : 9), using: &random) {
        case 0: .integer(Int64.random(in: -3...3, using: &random))
        case 1: .real(Double.random(in: 0..<1, using: &random))
        case 2: .bool(Bool.random(using: &random))
        case 3: .string(["", "x", "{", "]", "//", "\\\""].randomElement(using: &random) ?? "")
        case 4: .data(Data([1]))
        case 5: .null
        case 6, 7: .dictionary(value(&random, depth: depth + 1))
        default: .array((0..<Int.random(in: 0...4, using: &random)).map { _ in element(&random, depth + 1) })
        }
    }

    /// How a person writes.
    private struct Style {
        var random: SeededGenerator
        let isOneLine: Bool
        let step: String
        let colon: String
        let lineEnd: String

        init(_ random: inout SeededGenerator) {
            self.random = random
            isOneLine = Bool.random(using: &random)
            step = ["\t", "  ", "    ", ""].randomElement(using: &random) ?? ""
            colon = [":", ": ", " : "].randomElement(using: &random) ?? ""
            lineEnd = ["\n", "\r\n"].randomElement(using: &random) ?? ""
        }

        mutating func text(of value: StoredValue, _ margin: String) -> String {
            switch value {
            case .dictionary(let members):
                // The outermost dictionary of a file is one in any case.
                let isLone = !margin.isEmpty && JSONForm.isMistakable(members)
                let items = members.shuffled(using: &random).map {
                    quoted((isLone ? "$" : "") + $0) + colon + text(of: $1, margin + step)
                }
                return list("{", items, "}", margin)
            case .array(let elements):
                return list("[", elements.map { text(of: $0, margin + step) }, "]", margin)
            case .string(let text): return quoted(text)
            default: return JSONWriter.line(of: value)
            }
        }

        private func quoted(_ text: String) -> String { JSONWriter.line(of: .string(text)) }

        private mutating func list(_ open: String, _ items: [String], _ close: String, _ margin: String) -> String {
            if items.isEmpty { return open + close }
            if isOneLine { return open + items.joined(separator: ",") + close }
            var text = open + comment()
            for (number, item) in items.enumerated() {
                let isLast = number == items.count - 1
                if Bool.random(using: &random) { text += lineEnd + margin + step + "// about it" }
                let before = ["", "", "/* here */ ", "/* of\n two */ "].randomElement(using: &random) ?? ""
                text += lineEnd + margin + step + before + item
                if !isLast || Bool.random(using: &random) { text += "," }
                text += comment()
            }
            return text + lineEnd + margin + close
        }

        /// A comment up to the end of the line.
        private mutating func comment() -> String {
            ["", "", " // {", " /* } */", "\t/* \" */ // ,", " /* a\n b */"].randomElement(using: &random) ?? ""
        }
    }
}
