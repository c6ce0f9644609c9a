import Foundation
import PrefsJSON
import Testing
import TestSupport

/// The output of `--json`.
@Suite struct HarnessJSONTests {
    /// The output has the form of an export, so that an import accepts it. Values that are not stored are the defaults.
    @Test func showPrintsValuesThatCanBeImported() throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let first = try home.prefs("--json")
        #expect(try home.prefs("export").output == first.output)
        #expect(first.code == 0)
        try home.prefs("unset", "string")
        let shown = try home.prefs("show", "--json").output
        let object = try #require(try parse(shown) as? [String: Any])
        #expect(object.count == 5 && object["String Value"] as? String == "" && object["Integer Value"] as? Int == 10)
        let file = try home.write(Data(shown.utf8), to: "shown.json")
        #expect(
            try home.prefs("import", home.path("shown.json"), "-f", home.path("x.plist"), "--root", "PrefsTestSet")
                == Printed())
        #expect(try home.prefs("show", "--json", "-f", home.path("x.plist"), "--root", "PrefsTestSet").output == shown)
        #expect(try Data(contentsOf: file) == Data(shown.utf8))
    }

    @Test func strangeTextIsEscaped() throws {
        let home = try HarnessHome()
        let text = "a\"b\\c\n\t\u{1}\u{7F}\u{2028}é世👩‍👩‍👧/</script>"

        try home.prefs("set", "--root", "r\"\n", "string", "--", text)
        let one = try home.prefs("get", "string", "--json", "--root", "r\"\n")
        #expect(try parse(one.output) as? String == text)
        #expect(one.output.filter { $0 == "\n" }.count == 1)
        let all = try home.prefs("--json", "--root", "r\"\n")
        #expect((try parse(all.output) as? [String: Any])?["String Value"] as? String == text)
    }

    @Test func valuesOfOtherTypesArePrintedAsJSON() throws {
        let home = try HarnessHome()
        let stored: [String: Any] = [
            "Integer Value": true, "String Value": 1.5, "Array Value": [0, 1, UInt64.max, Double.infinity] as [Any],
            "Dictionary Value": ["d": Date(timeIntervalSinceReferenceDate: 0.25), "b": Data([1])] as [String: Any],
            "Date Value": -0.5,
        ]
        try home.write(["PrefsTestSet": stored], to: "x.plist")
        func line(_ key: String) throws -> String {
            try home.prefs("get", key, "--stored", "--json", "-f", home.path("x.plist"), "--root", "PrefsTestSet")
                .output
        }
        #expect(try line("int") == "true\n")
        #expect(try line("string") == "1.5\n")
        #expect(
            try line("array") == "[\n  0,\n  1,\n  18446744073709551615,\n  {\"$double\": \"inf\"}\n]\n")
        let date = "2001-01-01T00:00:00.25Z"
        #expect(
            try line("dictionary")
                == "{\n  \"b\": {\"$data\": \"AQ==\"},\n  \"d\": {\"$date\": \"\(date)\"}\n}\n")
        #expect(try line("date") == "-0.5\n")
    }

    private static let writes = [["set", "int", "5"], ["unset", "int"], ["unset", "--all"], ["set", "int", "+1"]]

    @Test(arguments: writes)
    func aSuccessfulWritePrintsNothing(command: [String]) throws {
        let home = try HarnessHome()
        #expect(try home.prefs(command + ["--json"]) == Printed())
    }

    @Test func aWordAfterTwoDashesIsNotTheJSONOption() throws {
        let home = try HarnessHome()
        #expect(try home.prefs("get", "--", "--json") == .unknownKey("--json"))
        #expect(try home.prefs("set", "int", "--", "--json").errors.hasPrefix("prefs: int: "))
    }

    private func parse(_ text: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }
}
