@testable import PrefsSupport
import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Hostile bytes: the error names the place, the time is linear in their number, and nothing changes.
@Suite struct HostileJSONTests {
    private static let refused = [
        "": "it is empty",
        " \n ": "line 2, column 2: expected a value before the end of the data",
        "hello": "line 1, column 1: expected a value",
        "[]": "expected a dictionary at the top level, found an array",
        "1": "expected a dictionary at the top level, found an integer",
        #"{"$date":0}"#: "expected a dictionary at the top level, found a date",
        "{}x": "line 1, column 3: unexpected text after the value",
        "{} {}": "line 1, column 4: unexpected text after the value",
        "{": "line 1, column 2: expected a key in quotes before the end of the data",
        "{a:1}": "line 1, column 2: expected a key in quotes",
        "{'a':1}": "line 1, column 2: expected a key in quotes",
        #"{"a" 1}"#: "line 1, column 6: expected : (at a)",
        #"{"a":1,,}"#: "line 1, column 8: expected a key in quotes",
        "{,}": "line 1, column 2: expected a key in quotes",
        #"{"a":[,]}"#: "line 1, column 7: expected a value (at a[0])",
        "{\n  \"é\": [1, 2\n 3]}": "line 3, column 2: expected , or ] (at é[2])",
        #"{"a":{"b":1 "c":2}}"#: "line 1, column 13: expected , or } (at a)",
        #"{"a":[1,,]}"#: "line 1, column 9: expected a value (at a[1])",
        #"{"a":[1}"#: "line 1, column 8: expected , or ] (at a[1])",
        "{\n\n  \"é\u{1F600}\": [null]}":
            "line 3, column 10: null cannot be stored in a property list; leave it out (at é\u{1F600}[0])",
        #"{"a":[{"b":[0,null]}]}"#:
            "line 1, column 15: null cannot be stored in a property list; leave it out (at a[0].b[1])",
        #"{"a":1,"b":2,"a":3}"#: "line 1, column 14: the key occurs twice, first in line 1 (at a)",
        #"{"a":null,"a":3}"#: "line 1, column 11: the key occurs twice, first in line 1 (at a)",
        #"{"a":{"b":1},"a":[{"b":1,"b":2,"#: "line 1, column 14: the key occurs twice, first in line 1 (at a)",
        #"{"a":[{"b":1,"b":2},3}"#: "line 1, column 14: the key occurs twice, first in line 1 (at a[0].b)",
        "{\n\"a\\u0062\": {\"a\": 1},\n\n  \"ab\":3}":
            "line 4, column 3: the key occurs twice, first in line 2 (at ab)",
        "{\"\u{E9}\":1,\"e\u{301}\":2}":
            "line 1, column 8: the key occurs twice, in two spellings that differ only in Unicode normalization (at e\u{301})",
        #"{"a":NaN}"#: "line 1, column 6: expected a value (at a)",
        #"{"a":01}"#: "line 1, column 6: a number must not have a leading zero (at a)",
        #"{"a":-}"#: "line 1, column 7: expected a digit (at a)",
        #"{"a":1.}"#: "line 1, column 8: expected a digit (at a)",
        #"{"a":.5}"#: "line 1, column 6: expected a value (at a)",
        #"{"a":+1}"#: "line 1, column 6: expected a value (at a)",
        #"{"a":1e}"#: "line 1, column 8: expected a digit (at a)",
        #"{"a":18446744073709551616}"#: "line 1, column 6: \(integer) (at a)",
        #"{"a":-9223372036854775809}"#: "line 1, column 6: \(integer) (at a)",
        #"{"a":1e309}"#: "line 1, column 6: a number beyond the range of a double (at a)",
        "{\"a\":\(String(repeating: "1", count: 100_000))}":
            "line 1, column 6: a number of more than 1000 characters (at a)",
        #"{"a":"b"#: "line 1, column 8: the string is not closed before the end of the data (at a)",
        "{\"a\":\"b\nc\"}": "line 1, column 8: a control character in a string must be escaped with a \\ (at a)",
        #"{"a":"b\x"}"#: "line 1, column 8: a \\ in a string does not begin a JSON escape (at a)",
        #"{"a":"\u12"}"#: "line 1, column 7: a \\u needs four hexadecimal digits (at a)",
        #"{"a":"\uD83D"}"#: "line 1, column 7: half a surrogate pair is not a character (at a)",
        #"{"a":"\uDE00\uD83D"}"#: "line 1, column 7: half a surrogate pair is not a character (at a)",
        #"{"a":"\uD83D\u0041"}"#: "line 1, column 7: half a surrogate pair is not a character (at a)",
        "{\n  # mine\n  \"a\": 1\n}": "line 2, column 3: a comment begins with //; expected a key in quotes",
        "\u{FEFF}{a:1}": "line 1, column 2: expected a key in quotes",
        "\u{FEFF}\n\t{a:1}": "line 2, column 3: expected a key in quotes",
        "# mine\n{}": "line 1, column 1: a comment begins with //; expected a value",
        "{\"a\":{\"b\":2 # mine\n}}": "line 1, column 13: a comment begins with //; expected , or } (at a)",
        #"{"a": / mine 1}"#: "line 1, column 7: expected a value (at a)",
        #"{"a": /* mine 1}"#: "line 1, column 17: expected a value before the end of the data (at a)",
        "{ \"a\": 1 // mine }": "line 1, column 19: expected , or } before the end of the data",
        "<plist><dict><key>a</key></plist>": "line 1, column 26: expected </dict>, found </plist>",
        "<html/>": "line 1, column 1: is XML, but its root element is <html>, not <plist>",
        "bplist00": "too short for a binary property list, or of an unknown version",
    ]
    private static let integer = "the integer does not fit in 64 bits; append .0 to make it a double"

    @Test(arguments: refused) func anErrorSaysWhere(text: String, message: String) throws {
        #expect(Self.failure(of: Data(text.utf8)) == message)
    }

    @Test(
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80]]
            as [[UInt8]])
    func bytesThatAreNotUTF8(_ bytes: [UInt8]) {
        let text = Data("{\"a\":\"é".utf8) + bytes + Data("\\n\"}".utf8)
        #expect(Self.failure(of: text) == "line 1, column 6: a string that is not UTF-8 (at a)")
        #expect(
            Self.failure(of: Data("{\"a\":1".utf8) + bytes + Data("}".utf8))?.hasSuffix(": expected , or }")
                == true)
        for wide in [[0xFF, 0xFE, 0x7B, 0], [0xFE, 0xFF, 0, 0x7B]] as [[UInt8]] {
            #expect(Self.failure(of: Data(wide)) == "expected JSON in UTF-8, found UTF-16")
        }
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":", "{\"$date\":", " \n["]) func nestedTooDeep(_ beginning: String) throws
    {
        try onSmallStack {
            let text = "{\"a\":" + String(repeating: beginning, count: 100_000)
            let message = Self.failure(of: Data(text.utf8)) ?? "accepted"
            #expect(message.contains("nested deeper than 64 levels"))
        }
    }

    @Test func oneLevelTooMany() throws {
        func nested(_ levels: Int) -> Data {
            Data(("{\"a\":" + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}").utf8)
        }
        #expect(Self.failure(of: nested(64)) == nil)
        let prefs = AnyPrefs(store: .memory())
        #expect(prefs.import(nested(65), merge: false)?.failures.map(\.reason) == ["nested deeper than 64 levels"])
        #expect(Self.failure(of: nested(66))?.contains("nested deeper than 64 levels (at a[0]") == true)
    }

    /// Each case takes linear time; with quadratic time, it would exceed the limit. A file has fewer limits than an
    /// import.
    @Test(.timeLimit(.minutes(5)), arguments: 0..<9) func muchOfOneThing(_ kind: Int) throws {
        func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
        let text =
            switch kind {
            case 0: "{\"a\":[" + many("1,", 100_000)
            case 1: "{\"a\":\"" + many("\\u0041", 100_000)
            case 2: "{\"a\":\"" + many("\u{301}\u{316}", 100_000) + "\"}"
            case 3: "{" + (0..<25_000).map { "\"\($0)\":0" }.joined(separator: ",")
            case 4: many(" \n", 250_000)
            case 5: "{\"" + many("\u{301}\u{316}", 100_000) + "\":1,\"" + many("\u{301}\u{316}", 100_000) + "\":null}"
            case 6: "{\"a\":[" + many("{\"k\":[]},", 25_000)
            case 7: "{\"a\":0." + many("0", 200_000) + "1}"
            default: many("[", 250_000)
            }
        // The other texts end in the middle, with or without the character that is rejected below.
        if text.hasSuffix("}") {
            _ = Self.failure(of: Data(text.utf8))
            _ = try? PropertyListCoder.decode(Data(text.utf8), as: .all)
        }
        let bytes = Data((text + "\u{1}").utf8)
        #expect(Self.failure(of: bytes) != nil)
        let failure = #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(bytes, as: .all) }
        #expect(failure?.description.hasPrefix("line ") == true)
        // If a property list is expected, the error only names JSON.
        #expect(throws: PropertyListFault.self) { try PropertyListCoder.decode(bytes) }
    }

    /// A property list that holds more than an import could store. A dictionary keeps one of two such keys.
    @Test func aPropertyListThatAnImportWouldCut() {
        let keys = "<key>c\u{E9}</key><true/><key>ce\u{301}</key><true/>"
        let twins =
            "the keys \"c\u{E9}\" (U+0063 U+00E9) and \"ce\u{301}\" (U+0063 U+0065 U+0301) "
            + "differ only in Unicode normalization, "
        for list in ["<dict>\(keys)</dict>", "<dict><key>a</key><array><dict>\(keys)</dict></array></dict>"] {
            let reason = Self.failure(of: Data("<plist>\(list)</plist>".utf8))
            #expect(reason == twins + "and a write would lose one of them")
        }
        let binary = BinaryList([[0xD2, 1, 4, 2, 3], [0x61, 0, 0xE9], [0x09], [0x08], [0x62, 0, 0x65, 3, 1]])
        #expect(Self.failure(of: binary.data)?.contains("differ only in Unicode normalization") == true)
        let half = BinaryList([[0xD1, 1, 2], [0x51, 0x61], [0x61, 0xD8, 0]])
        #expect(Self.failure(of: half.data) == "a string has an unpaired surrogate, which a write would replace")
    }

    @Test func moreThanMayBeStored() throws {
        let data = Data(#"{"a":[0,"é"]}"#.utf8)
        var limits = JSONReader.Limits.root
        limits.bytes = 39
        #expect(throws: Never.self) { try JSONReader.value(of: data, limits: limits) }
        limits.bytes = 38
        let error = #expect(throws: PropertyListFault.self) { try JSONReader.value(of: data, limits: limits) }
        #expect(
            error?.description == "line 1, column 12: larger than 4 MiB (at a[1])")
        #expect(Self.failure(of: Data(count: (256 << 20) + 1)) == "larger than 256 MiB")
    }

    /// The reason why the bytes are not a root; nil if they are. Every rejection leaves the values.
    private static func failure(of bytes: Data) -> String? {
        let prefs = AnyPrefs(["c"], values: ["c": 7], store: .memory())
        let error = prefs.import(bytes, merge: false)
        #expect(prefs.lastError?.description == error?.description)
        guard let error else { return nil }
        #expect(prefs.ints == ["c": 7])
        switch error {
        case .invalidImport(let reason):
            #expect(error.description == "the data cannot be imported: \(reason); the stored state is unchanged")
            return reason
        case .incorrectKeys: return nil
        default: return error.description
        }
    }
}
