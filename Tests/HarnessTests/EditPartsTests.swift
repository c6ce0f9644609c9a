import Foundation
import PrefsJSON
import PrefsPropertyLists
import Testing

@testable import PrefsTool

/// The parts of `edit`: the merge, and the remarks in a text.
@Suite(.waits) struct EditPartsTests {
    private func values(_ json: String) throws -> [String: StoredValue] {
        try EditedSyntax.json.members(of: Data(json.utf8))
    }

    /// Base, mine, theirs, and the merged values or the paths of the conflicts.
    @Test(arguments: [
        (#"{"a": 1}"#, #"{"a": 2}"#, #"{"a": 1, "b": 1}"#, #"{"a": 2, "b": 1}"#),
        (#"{"a": 1}"#, #"{}"#, #"{"a": 1}"#, "{}"),
        (#"{"a": 1}"#, #"{"a": 1}"#, #"{}"#, "{}"),
        (#"{"a": 1}"#, #"{"a": 2}"#, #"{"a": 2}"#, #"{"a": 2}"#),
        (#"{"a": 1}"#, #"{}"#, #"{}"#, "{}"),
        (#"{"a": 1}"#, #"{"a": 2}"#, #"{}"#, "a"),
        (#"{"a": 1}"#, #"{}"#, #"{"a": 2}"#, "a"),
        (#"{}"#, #"{"a": 1}"#, #"{"a": 1.0}"#, "a"),
        (#"{"a": {"x": 1}}"#, #"{"a": {"x": 2}}"#, #"{"a": {"x": 1, "y": 1}}"#, #"{"a": {"x": 2, "y": 1}}"#),
        (#"{"a": {"x": 1}, "b": 1}"#, #"{"a": {"x": 2}, "b": 2}"#, #"{"a": {"x": 3}, "b": 3}"#, "a.x b"),
        (#"{"a": {"x": 1}}"#, #"{"a": {"x": 2}}"#, #"{"a": 1}"#, "a"),
        (#"{"a": [1, 2]}"#, #"{"a": [1, 3]}"#, #"{"a": [4, 2]}"#, #"{"a": [4, 3]}"#),
        (#"{"a": [1, 2]}"#, #"{"a": [1, 3]}"#, #"{"a": [1, 4]}"#, "a[1]"),
        (#"{"a": [1, 2]}"#, #"{"a": [1]}"#, #"{"a": [1, 2]}"#, #"{"a": [1]}"#),
        (#"{"a": [1, 2]}"#, #"{"a": [1]}"#, #"{"a": [1, 2, 3]}"#, "a"),
        (#"{"a": [1, 2]}"#, #"{"a": [1, 3]}"#, #"{"a": [1, 2, 3]}"#, "a"),
    ])
    func merges(base: String, mine: String, theirs: String, expected: String) throws {
        func merged(_ answer: @escaping (ValueMerge.Conflict) -> Bool?) throws(ValueMerge.Unresolved) -> [String:
            StoredValue]
        {
            let (base, mine, theirs) = (try! values(base), try! values(mine), try! values(theirs))
            return try ValueMerge.values(base, to: mine, over: theirs, isDeep: true, answer: answer)
        }
        do throws(ValueMerge.Unresolved) {
            #expect(try merged { _ in nil } == (try? values(expected)))
        } catch {
            #expect(error.conflicts.map(\.path.text).joined(separator: " ") == expected)
            for isMine in [true, false] {
                let all = try merged { _ in isMine }
                for conflict in error.conflicts {
                    #expect(conflict.path.value(in: all) == (isMine ? conflict.mine : conflict.theirs))
                }
            }
        }
    }

    @Test(arguments: [
        (#"{"a": {"x": 1}}"#, #"{"a": {"x": 2}}"#, #"{"a": {"x": 1, "y": 1}}"#),
        (#"{"a": [1, 2]}"#, #"{"a": [1, 3]}"#, #"{"a": [4, 2]}"#),
    ])
    func aDeclaredValueIsOneWhole(base: String, mine: String, theirs: String) throws {
        #expect(throws: ValueMerge.Unresolved.self) {
            try ValueMerge.values(values(base), to: values(mine), over: values(theirs), isDeep: false) { _ in nil }
        }
    }

    @Test func anAnswerIsAboutOneValue() throws {
        var answers = ValueMerge.Answers()
        let path = ValuePath("a")
        answers.add(.init(path: path, mine: .integer(1), theirs: .integer(2)), replaces: true)
        #expect(answers.replaces(.integer(2), at: path) == true)
        #expect(answers.replaces(.integer(3), at: path) == nil)
        #expect(answers.replaces(.integer(2), at: ValuePath("b")) == nil)
    }

    @Test(arguments: ["\n", "\r\n"], ["", "\u{FEFF}"]) func remarksStandAboveTheirLines(end: String, mark: String) {
        let text = mark + ["{", "  \"a\": 1", "  \"b\": 2", "}", ""].joined(separator: end)
        let annotated = AnnotatedText(
            Data(text.utf8), [.init(line: 3, text: "one\u{1B}"), .init(text: "all"), .init(line: 3, text: "two")])
        let expected = [
            "// error: all", "{", "  \"a\": 1", "  // error: one\\u{1b}", "  // error: two", "  \"b\": 2", "}", "",
        ]
        #expect(String(decoding: annotated.bytes, as: UTF8.self) == mark + expected.joined(separator: end))
        #expect(annotated.withoutRemarks(annotated.bytes) == Data(text.utf8))
        // A remark at the end, and one that the person has removed.
        let last = AnnotatedText(Data(text.utf8), [.init(line: 9, text: "end")])
        #expect(String(decoding: last.bytes, as: UTF8.self) == text + "// error: end" + end)
        #expect(last.withoutRemarks(Data("{}".utf8)) == Data("{}".utf8))
    }

    /// XML has no two dashes in a comment.
    @Test(arguments: [("a--b", "a- -b"), ("---", "- - -"), ("----x-", "- - - -x-")])
    func aRemarkInXMLIsAComment(text: String, shown: String) {
        let annotated = AnnotatedText(Data("<plist/>\n".utf8), [.init(line: 1, text: text)], in: .xml)
        #expect(String(decoding: annotated.bytes, as: UTF8.self) == "<!-- error: \(shown) -->\n<plist/>\n")
        #expect(annotated.withoutRemarks(annotated.bytes) == Data("<plist/>\n".utf8))
    }

    @Test func keysAreFoundInTheirLines() {
        let text = Data("\u{FEFF}// \"a\"\n{\n\"b\": {\"a\": 1},\n/* x\n*/ \"\\u0061\": [\n2], \"c\": 1}".utf8)
        #expect(EditedSyntax.json.line(ofKey: "a", in: text) == 5)
        #expect(EditedSyntax.json.line(ofKey: "b", in: text) == 3)
        #expect(EditedSyntax.json.line(ofKey: "c", in: text) == 6)
        #expect(EditedSyntax.json.line(ofKey: "d", in: text) == nil)
        for other in ["", "[1]", "{\"d\": 1", "7"] {
            #expect(EditedSyntax.json.line(ofKey: "d", in: Data(other.utf8)) == nil)
        }
    }
}
