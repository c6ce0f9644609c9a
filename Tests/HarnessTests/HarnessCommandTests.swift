import Foundation
import PrefsJSON
import TestSupport
import Testing

@testable import PrefsTool

/// The effect of each command and option on the test set, and the parsing and printing of its values.
@Suite(.waits) final class HarnessCommandTests: HarnessSuite {
    @Test func showsATableOfDefaultsAndOfStoredValues() throws {
        let head = """
            root   PrefsTestSet
            store  UserDefaults suite "\(HarnessHome.suite)"
            file   \(home.suiteFile.path(percentEncoded: false))


            """
        let defaults = """
            KEY         STORED AS         TYPE              SOURCE   VALUE
            int         Integer Value     Int               default  10
            string      String Value      String            default  Sample String
            array       Array Value       [String]          default  ["One","Two","Three","Four","Five"]
            dictionary  Dictionary Value  [String: String]  default  {"One":"First","Three":"Third","Two":"Second"}
            date        Date Value        Date              default  2001-01-01T00:00:00Z

            """
        #expect(try prefs() == Printed(head + defaults))
        #expect(try home.folder.names() == [])
        try home.storeSampleValues()
        let values = """
            KEY         STORED AS         TYPE              SOURCE  VALUE
            int         Integer Value     Int               stored  10
            string      String Value      String            stored  Sample String
            array       Array Value       [String]          stored  ["One","Two","Three","Four","Five"]
            dictionary  Dictionary Value  [String: String]  stored  {"One":"First","Three":"Third","Two":"Second"}
            date        Date Value        Date              stored  2001-01-01T00:00:00Z

            """
        for words in [[], ["show"]] { #expect(try prefs(words) == Printed(head + values)) }
    }

    /// The short name, the full name, a value, the output of `get` without and with `--json`, and the default.
    private static let values = [
        ("int", "Integer Value", "42", "42", "42", "10"),
        ("string", "String Value", "a text", "a text", #""a text""#, "Sample String"),
        ("array", "Array Value", "a,b", #"["a","b"]"#, #"["a","b"]"#, #"["One","Two","Three","Four","Five"]"#),
        (
            "dictionary", "Dictionary Value", #"{"k":"v"}"#, #"{"k":"v"}"#, #"{"k":"v"}"#,
            #"{"One":"First","Three":"Third","Two":"Second"}"#
        ),
        ("date", "Date Value", date, date, "\"\(date)\"", "2001-01-01T00:00:00Z"),
    ]
    private static let date = "2026-11-20T00:00:00Z"

    @Test(arguments: values)
    func setsGetsAndUnsetsByEitherName(
        short: String, full: String, value: String, text: String, json: String, defaultText: String
    ) throws {
        for (writer, reader) in [(short, full), (full, short)] {
            let home = try HarnessHome()
            func prefs(_ words: String...) throws -> Printed { try self.prefs(words, in: home.path("x.plist")) }
            #expect(try prefs("get", reader) == Printed(defaultText + "\n"))
            #expect(try prefs("get", reader, "--stored") == .failure("`\(reader)` is not set"))
            #expect(try prefs("get", reader, "--stored", "--default", "none") == Printed("none\n"))
            #expect(try prefs("unset", writer) == Printed())
            #expect(try home.folder.names() == [])
            #expect(try prefs("set", writer, value) == Printed())
            #expect(try prefs("get", reader) == Printed(text + "\n"))
            #expect(try prefs("get", reader, "--stored") == Printed(text + "\n"))
            let value = try ExportFormat.value(ofJSON: Data(prefs("get", reader, "--json").output.utf8))
            #expect(value.json == json)
            #expect(try prefs("unset", writer) == Printed())
            #expect(try prefs("get", reader, "--stored").code == 1)
            #expect(try prefs("unset", writer) == Printed())
        }
    }

    @Test func pathsLeadIntoValues() throws {
        try home.storeSampleValues()
        #expect(try prefs("get", "array[1]", "array[-1]", "dictionary.One") == Printed("Two\nFive\nFirst\n"))
        #expect(try prefs("set", "dictionary.New", "true") == Printed())
        #expect(try prefs("unset", "dictionary.Two") == Printed())
        #expect(try prefs("get", "dictionary") == Printed(#"{"New":"true","One":"First","Three":"Third"}"# + "\n"))
        let message = "there is no element 9 of `Array Value`, which has 5 elements"
        #expect(try prefs("set", "array[9]", "x") == failure(message))
    }

    @Test(arguments: [
        ("9007199254740993", "1", "9007199254740994"), ("9223372036854775806", "1", "9223372036854775807"),
        ("4611686018427387905", "1", "4611686018427387906"), ("-9223372036854775807", "-1", "-9223372036854775808"),
        ("9223372036854775807", "-9223372036854775807", "0"), ("5", "-7", "-2"),
    ])
    func sumsAreExact(_ number: String, _ amount: String, _ sum: String) throws {
        #expect(try prefs("set", "int", "--", number) == Printed())
        #expect(try prefs("set", "int", "+\(amount)") == Printed())
        #expect(try prefs("get", "int") == Printed(sum + "\n"))
    }

    /// A number of a file may be larger than those of a class.
    @Test(arguments: [
        ("0", "18446744073709551615", "18446744073709551615"), ("18446744073709551614", "1", "18446744073709551615"),
        ("18446744073709551615", "-9223372036854775808", "9223372036854775807"),
        ("-1", "9223372036854775808", "9223372036854775807"),
    ])
    func sumsOfFilesAreExact(_ number: String, _ amount: String, _ sum: String) throws {
        let file = try home.write("{\"n\": \(number)}", to: "x.json").path
        #expect(try prefs("set", "-f", file, "n", "+\(amount)") == Printed())
        #expect(try home.text("x.json") == "{\"n\": \(sum)}")
    }

    @Test func eachNewNameIsChecked() throws {
        let file = try home.write(["a": 1], to: "x.plist").path
        let long = String(repeating: "x", count: 1_025)
        let printed = try prefs("set", "-f", file, "b=1", "\(long)=2")
        #expect(printed.code == 1 && printed.errors.contains(" is not a valid root key: "), "\(printed)")
        #expect(try prefs("show", "-f", file, "--json") == Printed("{\n  \"a\": 1\n}\n"))
        #expect(try prefs("set", "-f", file, "b=1", "\(long.dropLast())=2") == Printed())
    }

    @Test func rootsSuitesAndFilesAreIndependent() throws {
        let targets = [
            [], ["--root", "R"], ["-f", "S", "--root", "PrefsTestSet"],
            ["-f", home.path("f.plist"), "--root", "PrefsTestSet"], ["--root", "R", "-f", "S"],
        ]
        for (index, target) in targets.enumerated() {
            #expect(try prefs(["set", "int", "\(index)", "--force"] + target) == Printed())
        }
        for (index, target) in targets.enumerated() {
            #expect(try prefs(target + ["get", "int"]) == Printed("\(index)\n"))
        }
        for (target, head, number) in [
            (targets[4], "root   R\nstore  UserDefaults suite \"S\"\nfile   \(home.path(".config/S.plist"))\n\n", 4),
            (targets[3], "root   PrefsTestSet\nstore  property-list file\nfile   \(home.path("f.plist"))\n\n", 3),
        ] {
            let shown = try prefs(target).output
            #expect(shown.hasPrefix(head) && shown.contains("  stored   \(number)\n"), "\(shown)")
        }
    }

    @Test(arguments: [
        ["set", "int", "5", "-f", "S", "--root", "R"], ["-f", "S", "set", "--root", "R", "int", "5"],
        ["--root", "R", "-f", "S", "--json", "set", "int", "--", "5"],
        ["--root", "R", "-f", "S", "--", "set", "int", "5"], ["-f", "S", "set", "int", "5", "--root=R"],
    ])
    func optionsMayAppearAnywhere(arguments: [String]) throws {
        _ = try home.writeSuite("S", [:])
        #expect(try prefs(arguments) == Printed())
        #expect(try prefs("get", "int", "-f", "S", "--root", "R") == Printed("5\n"))
    }

    // MARK: - Parsing and printing of values

    /// What is printed, and what stands after two dashes. `TextTableTests` has what texts stand for.
    private static let printed: [(key: String, words: [String], line: String)] = [
        ("int", ["--", "-5"], "-5"), ("string", [""], ""), ("string", [#"a\nb"#], #"a\nb"#),
        ("string", ["--", "--json"], "--json"), ("string", ["--", "--"], "--"),
        ("string", ["héllo 世界 👩‍👩‍👧 e\u{301}"], "héllo 世界 👩‍👩‍👧 e\u{301}"),
        ("string", ["one\ntwo\n"], "one\ntwo\n"), ("string", ["x\u{FEFF}"], "x\u{FEFF}"),
        ("array", ["a,b,c"], #"["a","b","c"]"#), ("array", [#"["a\nb","a/b","世"]"#], #"["a\nb","a/b","世"]"#),
        ("dictionary", ["b=2,a=1"], #"{"a":"1","b":"2"}"#), ("dictionary", ["CF$UID=1"], #"{"CF$UID":"1"}"#),
        ("date", ["2026-11-20"], "2026-11-20T00:00:00Z"),
        ("date", ["2026-11-20T08:30:00.25Z"], "2026-11-20T08:30:00.250Z"),
        ("date", ["2026-11-20T08:30:00.0Z"], "2026-11-20T08:30:00Z"),
        ("date", ["2026-11-20T08:30:00.001Z"], "2026-11-20T08:30:00.001Z"),
        ("date", ["9999-12-31T23:59:59.999Z"], "9999-12-31T23:59:59.999Z"),
        ("date", ["1965-01-31T23:59:59.999Z"], "1965-01-31T23:59:59.999Z"),
        ("date", ["2026-12-31T23:59:59.9996Z"], "2027-01-01T00:00:00Z"),
    ]

    @Test(arguments: printed) func valuesArePrintedAndReadAgain(key: String, words: [String], line: String) throws {
        #expect(try prefs(["set", key] + words) == Printed())
        #expect(try prefs("get", key) == Printed(line + "\n"))
        // The printed text is read as the same value.
        #expect(try prefs("set", key, "--", line) == Printed())
        #expect(try prefs("get", key) == Printed(line + "\n"))
    }

    /// A separator and a following combining mark look like one character, but are two scalars.
    @Test func aPartMayBeginWithACombiningMark() throws {
        #expect(try prefs("--root=\u{338}r", "set", "array", "a,\u{301}b") == Printed())
        #expect(try prefs("--root", "\u{338}r", "set", "dictionary", "k=\u{338}v,\u{301}l=w") == Printed())
        #expect(try prefs("get", "array", "--root", "\u{338}r") == Printed("[\"a\",\"\u{301}b\"]\n"))
        let printed = try prefs("get", "dictionary", "--root", "\u{338}r")
        #expect(printed == Printed("{\"k\":\"\u{338}v\",\"\u{301}l\":\"w\"}\n"))
        #expect(try prefs("--\u{301}").errors.hasPrefix("prefs: unknown option `--\u{301}`"))
    }

    @Test(arguments: ["-7", "-.5", "-0x"]) func aWordThatMayBeANumberIsNoOption(word: String) throws {
        #expect(try prefs("find", word) == .failure("no key and no value contains it"))
    }

    @Test(arguments: ["0", "86400", "0.5"]) func aTimeLimitMayHaveItsEnds(seconds: String) throws {
        #expect(try prefs("set", "int", "1", "--timeout", seconds) == Printed())
    }

    @Test func aTableCellIsOneLine() throws {
        try prefs("set", "string", "one\ntwo\tthree\r\u{1B}[2J\u{7F}\u{2028}end  ")
        try prefs("set", "array", "世界,👩‍👩‍👧")
        let rows = try prefs().output.split(separator: "\n").dropFirst(5).prefix(2)
        #expect(
            rows == [
                #"string      String Value      String            stored   one\ntwo\tthree\u{d}\u{1b}[2J\u{7f}\u{2028}end  "#,
                #"array       Array Value       [String]          stored   ["世界","👩‍👩‍👧"]"#,
            ])
    }

    // MARK: - Other programs

    private func raw(_ suite: String, _ root: String) throws -> Printed {
        try home.run("RawDefaults", ["read", suite, root])
    }

    @Test func rawUserDefaultsSeeWhatIsSet() throws {
        let values = ["int=-42", "string=héllo\n世界", "array=a,b", "dictionary=k=v", "date=2001-01-02T00:00:00.25Z"]
        #expect(try prefs(["set"] + values) == Printed())
        let lines = """
            Array Value=[a,b]
            Date Value=86400.25
            Dictionary Value={k=v}
            Integer Value=-42
            String Value=héllo
            世界

            """
        #expect(try raw(HarnessHome.suite, "PrefsTestSet") == Printed(lines))
        try prefs("unset", "string", "array", "dictionary", "date")
        #expect(try raw(HarnessHome.suite, "PrefsTestSet") == Printed("Integer Value=-42\n"))
        #expect(try prefs("unset", "--all") == Printed())
        #expect(try raw(HarnessHome.suite, "PrefsTestSet").errors == "RawDefaults: no dictionary\n")
    }

    @Test func rawUserDefaultsSeeSuitesAndRootsOfAnyName() throws {
        for (suite, root) in [("S", "R"), ("two words", "a/b"), ("wörld.世界", "r\u{F6}\u{F6}t"), ("a%20b", "$1")] {
            #expect(try prefs("set", "int", "7", "-f", suite, "--root", root, "--force") == Printed())
            #expect(try raw(suite, root) == Printed("Integer Value=7\n"))
        }
    }
}
