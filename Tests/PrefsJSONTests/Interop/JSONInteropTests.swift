import Foundation
import PropertyListSupport
import Testing
import TestSupport

@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Other programs read equal values from this package's JSON, and this package reads equal values from theirs. Uses
/// random trees; `PREFS_TREES` sets their number.
@Suite struct JSONInteropTests {
    private static func read(_ bytes: Data) throws -> [Any] {
        try PropertyListCoder.decode(bytes, as: .all).value.object as? [Any] ?? []
    }

    /// Python's layouts: compact, in ASCII, indented by tabs in reverse order with CRLF, and with a byte order mark.
    @Test(
        .enabled(if: OtherReaders.has(OtherReaders.python, "json of Python")),
        arguments: [
            "text = json.dumps(value, separators=(',', ':'))",
            "text = json.dumps(value, ensure_ascii=False, sort_keys=True)",
            "text = json.dumps(reverse(value), indent='\\t').replace('\\n', '\\r\\n')",
            "text = '\\ufeff' + json.dumps(value, indent=4, ensure_ascii=False)",
        ])
    func python(_ dump: String) throws {
        let trees = try InteropTree.all()
        let script = """
            import json, sys
            def reverse(value):
                if isinstance(value, dict): return {key: reverse(value[key]) for key in reversed(value)}
                return [reverse(element) for element in value] if isinstance(value, list) else value
            value = json.loads(sys.stdin.buffer.read().decode('utf-8'))
            \(dump)
            sys.stdout.buffer.write(text.encode('utf-8'))
            """
        let ours = try PropertyListCoder.encode(objects: trees, as: .json)
        let again = try Self.read(OtherReaders.run(OtherReaders.python, ["-c", script], on: ours))
        #expect(again.count == trees.count)
        for (seed, (tree, other)) in zip(trees, again).enumerated() {
            #expect(exactForm(other) == exactForm(tree), "seed \(seed + 1)")
        }
    }

    /// For values that JSON can express directly, Python and jq write equal bytes, so these programs leave no
    /// difference in a file.
    @Test(.enabled(if: OtherReaders.has(OtherReaders.python, "json of Python"))) func pythonWritesTheSameBytes() throws
    {
        let ours = try PropertyListCoder.encode(plain: Self.plain, as: .json)
        let script = """
            import json, sys
            text = json.dumps(json.load(sys.stdin), indent=2, sort_keys=True, ensure_ascii=False) + '\\n'
            sys.stdout.buffer.write(text.encode('utf-8'))
            """
        #expect(try OtherReaders.run(OtherReaders.python, ["-c", script], on: ours) == ours)
    }

    /// jq writes 1.0 as 1 and keeps 53 bits of an integer, so only other numbers are compared.
    @Test(.enabled(if: OtherReaders.has(OtherReaders.jq, "jq"))) func jqWritesTheSameBytes() throws {
        let plain = Self.plain.filter { $0.key != "numbers" }
        let ours = try PropertyListCoder.encode(plain: plain, as: .json)
        #expect(try OtherReaders.run(OtherReaders.jq, ["-S", "."], on: ours) == ours)
        let all = try PropertyListCoder.encode(objects: InteropTree.all(), as: .json)
        #expect(try OtherReaders.run(OtherReaders.jq, ["length"], on: all) == Data("\(InteropTree.count)\n".utf8))
        let edited = try OtherReaders.run(OtherReaders.jq, [".list[0] = 7"], on: ours)
        #expect(
            try (PropertyListCoder.decode(edited, as: .all).value.object as? [String: Any])?["list"]
                as? [AnyHashable] == [
                    7, -3, 0.5,
                ])
    }

    @Test(.enabled(if: OtherReaders.has(OtherReaders.jsonPP, "json_pp"))) func jsonPPHas15Digits() throws {
        let ours = try PropertyListCoder.encode(plain: ["x": 0.1 + 0.2, "y": 0.5], as: .json)
        let theirs = try OtherReaders.run(OtherReaders.jsonPP, [], on: ours)
        let expected = StoredValue(of: ["x": 0.3, "y": 0.5])
        #expect(try PropertyListCoder.decode(theirs, as: .all).value == expected)
    }

    @Test(.enabled(if: OtherReaders.has(OtherReaders.jshon, "jshon"))) func jshonRefusesU0000() throws {
        func read(_ text: String) throws -> Data {
            let ours = try PropertyListCoder.encode(plain: ["k": text], as: .json)
            return try OtherReaders.run(OtherReaders.jshon, ["-e", "k", "-u"], on: ours)
        }
        #expect(try read("a\u{1}b") == Data("a\u{1}b\n".utf8))
        #expect(throws: FuzzViolation.self) { try read("a\0b") }
    }

    /// In texts with comments and trailing commas, which a write has changed.
    @Test(.enabled(if: OtherReaders.has(OtherReaders.json5, "node-json5"))) func nodeJSON5ReadsCommentedTexts() throws {
        let texts = ChangedTextTests.cases.map(\.expected)
        let pairs = try texts.map { text in
            let ours = try PropertyListCoder.encode(
                PropertyListCoder.decode(Data(text.utf8), as: .all).value, as: .json)
            return [text, String(decoding: ours, as: UTF8.self)]
        }
        let script = """
            \(OtherReaders.findJSON5)
            const JSON5 = require("json5"), {isDeepStrictEqual} = require("util");
            for (const [text, ours] of JSON.parse(require("fs").readFileSync(0)))
                console.log(isDeepStrictEqual(JSON5.parse(text), JSON.parse(ours)));
            """
        let answers = try OtherReaders.run(OtherReaders.json5, ["-e", script], on: JSONEncoder().encode(pairs))
        let isEqual = String(decoding: answers, as: UTF8.self).split(separator: "\n").map { $0 == "true" }
        #expect(isEqual.count == texts.count && texts.filter { $0.contains("//") }.count > 3)
        for (text, isEqual) in zip(texts, isEqual) where !isEqual { Issue.record("\(text)") }
    }

    private static var plain: [String: Any] {
        [
            "numbers": [0, 1.0, -0.0, 1e22, Double.leastNonzeroMagnitude, 1e-5, 1e16, 0.1, UInt64.max, Int64.min]
                as [Any],
            "list": [1, -3, 0.5] as [Any], "text": "é \u{1F600} \"\\/\n\t", "empty": [String: Any](), "none": [Any](),
            "deep": ["b": [[true], ["x": false]], "a": ["": ""]] as [String: Any], "é": 1, "\u{1F600}": 2, "Z": 3,
        ]
    }

    // MARK: - Hostile files

    /// A program that writes in place leaves a beginning of its file for a moment, which is no other file.
    @Test func eachBeginningOfAFileIsMalformed() {
        let text =
            #"/* 1 */{"a": [true, false, null, -1.5e3, "é\u00e9\\\ud83d\ude00"], /* 2 */ "b": {"$data": "AQ=="}"#
            + #", "c": {"$date": 5},}"#
        for count in 1..<text.utf8.count {
            let bytes = Data(text.utf8.prefix(count))
            let failure = #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(bytes, as: .all) }
            guard let failure, !failure.isUnsupported, failure.line == 1 else {
                Issue.record("\(count) bytes: \(String(describing: failure))")
                continue
            }
        }
    }

    /// A reader would reject more values than it may count, so the writer does.
    @Test func moreValuesThanAFileMayHold() throws {
        #expect(JSONReader.Limits.file.nodes == PropertyListLimits.fileNodes)
        var limits = JSONReader.Limits.file
        limits.nodes = 1_000
        let many = [StoredValue](repeating: .bool(true), count: limits.nodes - 1)
        let bytes = try JSONWriter.data(ofFile: .array(many), limits: limits)
        #expect(try JSONReader.value(of: bytes, limits: limits).array?.count == limits.nodes - 1)
        let tooMany = #expect(throws: PropertyListFailure.self) {
            try JSONWriter.data(ofFile: .array(many + [.bool(true)]), limits: limits)
        }
        #expect(tooMany?.reason == "more than 1000 values")
        let failure = #expect(throws: PropertyListFault.self) {
            try JSONReader.value(of: bytes.dropLast(3) + Data(",true]".utf8), limits: limits)
        }
        #expect(failure?.reason.contains("has more than 1000 values") == true)
        // The limits of files are the default.
        let rest = try PropertyListCoder.encode(objects: many + [true], as: .json)
        #expect(try Self.read(rest).count == 1_000)
    }
}
