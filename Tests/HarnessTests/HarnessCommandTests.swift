import Foundation
import PrefsJSON
import TestSupport
import Testing

@testable import PrefsTool

/// The effect of each command and option on the test set.
@Suite(.waits) final class HarnessCommandTests: HarnessSuite {
    @Test func showsATableOfDefaultsAndOfStoredValues() throws {
        let head = """
            root   PrefsTestSet
            store  UserDefaults suite "\(HarnessHome.suite)"
            file   \(home.suiteFile.path(percentEncoded: false))


            """
        let defaults = """
            KEY         STORED AS         TYPE              SOURCE   VALUE
            int         Integer Value     Int               default  0
            string      String Value      String            default  ""
            array       Array Value       [String]          default  []
            dictionary  Dictionary Value  [String: String]  default  {}
            date        Date Value        Date              default  0000-12-30T00:00:00Z

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
        ("int", "Integer Value", "42", "42", "42", "0"),
        ("string", "String Value", "a text", "a text", #""a text""#, ""),
        ("array", "Array Value", "a,b", #"["a","b"]"#, #"["a","b"]"#, "[]"),
        ("dictionary", "Dictionary Value", #"{"k":"v"}"#, #"{"k":"v"}"#, #"{"k":"v"}"#, "{}"),
        ("date", "Date Value", date, date, "\"\(date)\"", "0000-12-30T00:00:00Z"),
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

    @Test func eachCommandLeavesTheOtherValues() throws {
        try home.storeSampleValues()
        try prefs("set", "int", "-7")
        try prefs("unset", "array", "date")
        let dictionary = #"{"One":"First","Three":"Third","Two":"Second"}"#
        let values = Printed("-7\nSample String\n[]\n\(dictionary)\n0000-12-30T00:00:00Z\n")
        #expect(try prefs("get", "int", "string", "array", "dictionary", "date") == values)
        #expect(try prefs("unset", "--all") == Printed())
        #expect(try prefs("export") == Printed("{}\n"))
    }

    @Test func severalValuesAreStoredTogetherOrNotAtAll() throws {
        let file = home.path("x.plist")
        #expect(try prefs("set", "int=5", "String Value=a=b", "array=x,y", in: file) == Printed())
        #expect(try prefs("get", "string", in: file) == Printed("a=b\n"))
        let failure = failure(#"int: expected Int, found "x": not a number"#)
        #expect(try prefs("set", "string=new", "int=x", in: file) == failure)
        #expect(try prefs("get", "string", "array", in: file) == Printed("a=b\n[\"x\",\"y\"]\n"))
    }

    @Test func pathsLeadIntoValues() throws {
        try home.storeSampleValues()
        #expect(try prefs("get", "array[1]", "array[-1]", "dictionary.One") == Printed("Two\nFive\nFirst\n"))
        #expect(try prefs("get", "array[5]") == .failure("`array[5]` is not set"))
        #expect(try prefs("set", "array[1]", "Zwei") == Printed())
        #expect(try prefs("set", "array[5]", "6") == Printed())
        #expect(try prefs("unset", "array[0]") == Printed())
        #expect(try prefs("get", "array") == Printed(#"["Zwei","Three","Four","Five","6"]"# + "\n"))
        #expect(try prefs("set", "dictionary.New", "true") == Printed())
        #expect(try prefs("unset", "dictionary.Two") == Printed())
        #expect(try prefs("get", "dictionary") == Printed(#"{"New":"true","One":"First","Three":"Third"}"# + "\n"))
        for (path, message) in [
            ("array[9]", "there is no element 9 of `Array Value`, which has 5 elements"),
            ("int.a", "`Integer Value`: expected a dictionary, found type integer"),
        ] {
            #expect(try prefs("set", path, "x") == failure(message))
        }
    }

    @Test func numbersAreAddedToAndComparedWith() throws {
        try home.storeSampleValues()
        #expect(try prefs("set", "int", "+1") == Printed())
        #expect(try prefs("set", "int", "+-5") == Printed())
        #expect(try prefs("get", "int") == Printed("6\n"))
        #expect(try prefs("set", "int", "+9223372036854775807").code == 1)
        #expect(try prefs("set", "int", "+0.5").code == 1)
        #expect(try prefs("set", "int", "toggle").errors.contains("found \"toggle\""))
        #expect(try prefs("set", "int", "7", "--if", "5") == failure("`int`: expected 5, found 6; nothing has changed"))
        #expect(try prefs("set", "int", "7", "--if", "6") == Printed())
        #expect(try prefs("get", "int") == Printed("7\n"))
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

    @Test func aPartOfAValueThatDoesNotFitIsNotReplaced() throws {
        let stored: [String: Any] = ["Dictionary Value": ["a": "x", "b": 2] as [String: Any], "Integer Value": "x"]
        let file = try home.write(["PrefsTestSet": stored], to: "x.plist")
        let bytes = try Data(contentsOf: file)
        for words in [["set", "dictionary.c", "z"], ["set", "int", "+1"]] {
            #expect(try prefs(words, in: home.path("x.plist")).code == 1)
            #expect(try Data(contentsOf: file) == bytes)
        }
        #expect(try prefs("set", "dictionary.b", "two", in: home.path("x.plist")) == Printed())
        #expect(try prefs("get", "dictionary", in: home.path("x.plist")) == Printed(#"{"a":"x","b":"two"}"# + "\n"))
    }

    @Test func elementsAreRemovedOneByOne() throws {
        #expect(try prefs("set", "array", "a,b,c") == Printed())
        #expect(try prefs("unset", "array[0]", "array[1]").code == 1)
        #expect(try prefs("get", "array") == Printed(#"["a","b","c"]"# + "\n"))
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
        ["--root", "R", "-f", "S", "--", "set", "int", "5"],
    ])
    func optionsMayAppearAnywhere(arguments: [String]) throws {
        _ = try home.writeSuite("S", [:])
        #expect(try prefs(arguments) == Printed())
        #expect(try prefs("get", "int", "-f", "S", "--root", "R") == Printed("5\n"))
    }
}
