import Foundation
import Testing

/// The output of `--json`.
@Suite final class HarnessJSONTests: HarnessSuite {
    /// The output has the form of an export, so that an import accepts it. Values that are not stored are the defaults.
    @Test func showPrintsValuesThatCanBeImported() throws {
        try home.storeSampleValues()
        let first = try prefs("--json")
        #expect(try prefs("export").output == first.output)
        #expect(first.code == 0)
        try prefs("unset", "string")
        let shown = try prefs("show", "--json").output
        let object = try #require(try parse(shown) as? [String: Any])
        #expect(object.count == 5 && object["String Value"] as? String == "" && object["Integer Value"] as? Int == 10)
        let file = try home.write(shown, to: "shown.json")
        #expect(try prefs("import", home.path("shown.json"), in: home.path("x.plist")) == Printed())
        #expect(try prefs("show", "--json", in: home.path("x.plist")).output == shown)
        #expect(try Data(contentsOf: file) == Data(shown.utf8))
    }

    @Test func strangeTextIsEscaped() throws {
        let text = "a\"b\\c\n\t\u{1}\u{7F}\u{2028}é世👩‍👩‍👧/</script>"

        try prefs("set", "--root", "r\"\n", "string", "--", text)
        let one = try prefs("get", "string", "--json", "--root", "r\"\n")
        #expect(try parse(one.output) as? String == text)
        #expect(one.output.filter { $0 == "\n" }.count == 1)
        let all = try prefs("--json", "--root", "r\"\n")
        #expect((try parse(all.output) as? [String: Any])?["String Value"] as? String == text)
    }

    @Test func valuesOfOtherTypesArePrintedAsJSON() throws {
        let stored: [String: Any] = [
            "Integer Value": true, "String Value": 1.5, "Array Value": [0, 1, UInt64.max, Double.infinity] as [Any],
            "Dictionary Value": ["d": Date(timeIntervalSinceReferenceDate: 0.25), "b": Data([1])] as [String: Any],
            "Date Value": -0.5,
        ]
        try home.write(["PrefsTestSet": stored], to: "x.plist")
        func line(_ key: String) throws -> String {
            try prefs("get", key, "--stored", "--json", in: home.path("x.plist"))
                .output
        }
        #expect(try line("int") == "true\n")
        #expect(try line("string") == "1.5\n")
        #expect(try line("array") == "[\n  0,\n  1,\n  18446744073709551615,\n  {\"$double\": \"inf\"}\n]\n")
        let date = "2001-01-01T00:00:00.25Z"
        #expect(try line("dictionary") == "{\n  \"b\": {\"$data\": \"AQ==\"},\n  \"d\": {\"$date\": \"\(date)\"}\n}\n")
        #expect(try line("date") == "-0.5\n")
    }

    private static let writes = [["set", "int", "5"], ["unset", "int"], ["unset", "--all"], ["set", "int", "+1"]]

    @Test(arguments: writes)
    func aSuccessfulWritePrintsNothing(command: [String]) throws {
        #expect(try prefs(command + ["--json"]) == Printed())
    }

    @Test func aWordAfterTwoDashesIsNotTheJSONOption() throws {
        #expect(try prefs("get", "--", "--json") == .unknownKey("--json"))
        #expect(try prefs("set", "int", "--", "--json").errors.hasPrefix("prefs: int: "))
    }

    private func parse(_ text: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }
}
