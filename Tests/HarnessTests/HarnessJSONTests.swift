import Foundation
import TestSupport
import Testing

/// The output of `--json`.
@Suite struct HarnessJSONTests {
    @Test func showPrintsJSON() throws {
        let home = try HarnessHome()
        let first = try home.prefs("--json")
        #expect(first.errors == "prefs: nothing was stored yet; stored the default values\n")
        let second = try home.prefs("--json")
        #expect(second == Printed(first.output))
        #expect(first.output.filter { $0 == "\n" }.count == 1)
        let object = try #require(try parse(first.output) as? [String: Any])
        #expect(object.keys.sorted() == ["file", "root", "store", "values"])
        #expect(object["root"] as? String == "PrefsTestSet")
        #expect(object["store"] as? String == "UserDefaults suite \"\(HarnessHome.suite)\"")
        #expect(object["file"] as? String == home.suiteFile.path(percentEncoded: false))
        let values = try #require(object["values"] as? [String: Any])
        #expect(values.count == 5)
        #expect(values["Integer Value"] as? Int == 10)
        #expect(values["String Value"] as? String == "Sample String")
        #expect(values["Array Value"] as? [String] == ["One", "Two", "Three", "Four", "Five"])
        #expect(
            values["Dictionary Value"] as? [String: String] == ["One": "First", "Two": "Second", "Three": "Third"])
        #expect(values["Date Value"] as? String == "2001-01-01T00:00:00Z")
    }

    @Test func unsetValuesAreAbsentFromTheJSON() throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "1", "--file", home.path("x y.plist"))
        let printed = try home.prefs("--json", "--root", "PrefsTestSet", "--file", home.path("x y.plist"))
        let target = #"{"root":"PrefsTestSet","store":"property-list file","file":""# + home.path("x y.plist")
        #expect(printed == Printed(target + "\",\"values\":{\"Integer Value\":1}}\n"))
    }

    @Test func strangeTextIsEscaped() throws {
        let home = try HarnessHome()
        let text = "a\"b\\c\n\t\u{1}\u{7F}\u{2028}é世👩‍👩‍👧/</script>"

        try home.prefs("set", "--root", "r\"\n", "string", "--", text)
        let one = try home.prefs("get", "string", "--json", "--root", "r\"\n")
        #expect(try parse(one.output) as? String == text)
        #expect(one.output.filter { $0 == "\n" }.count == 1)
        let all = try home.prefs("--json", "--root", "r\"\n")
        let object = try #require(try parse(all.output) as? [String: Any])
        #expect(object["root"] as? String == "r\"\n")
        #expect(object["values"] as? [String: String] == ["String Value": text])
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
            try home.prefs("get", key, "--json", "--file", home.path("x.plist")).output
        }
        #expect(try line("int") == "true\n")
        #expect(try line("string") == "1.5\n")
        #expect(try line("array") == "[0,1,18446744073709551615,\"inf\"]\n")
        #expect(try line("dictionary") == "{\"b\":\"AQ==\",\"d\":\"2001-01-01T00:00:00.250Z\"}\n")
        #expect(try line("date") == "-0.5\n")
        let all = try home.prefs("--json", "--file", home.path("x.plist"))
        let object = try #require(try parse(all.output) as? [String: Any])
        #expect((object["values"] as? [String: Any])?.count == 5)
    }

    private static let writes = [["set", "int", "5"], ["unset", "int"], ["reset"], ["clear"], ["delete-all"]]

    @Test(arguments: writes)
    func aSuccessfulWritePrintsNothing(command: [String]) throws {
        let home = try HarnessHome()
        #expect(try home.prefs(command + ["--json"]) == Printed())
    }

    private static let errors: [(arguments: [String], message: String, code: Int32)] = [
        (["get", "int"], "Integer Value is not set", 1),
        (["--suite", "../x"], #""../x" is not a valid suite name: it contains a /"#, 1),
        (["reset", "--root", ""], #""" is not a valid root key: it is empty"#, 1),
        (["get"], "too few arguments for `get`: prefs get KEY", 64),
        (["--suite", "S", "--file", "F"], "--suite and --file cannot be combined; give one of them", 64),
        (["set", "int", "abc"], #"Integer Value: expected a 64-bit integer such as 42 or -7, found "abc""#, 64),
        (["--root"], "--root needs a value: --root NAME", 64),
    ]

    @Test(arguments: errors)
    func anErrorIsAnObjectOnStandardError(arguments: [String], message: String, code: Int32) throws {
        let home = try HarnessHome()
        let printed = try home.prefs(["--json"] + arguments)
        #expect(printed.output == "")
        #expect(printed.code == code)
        #expect(try parse(printed.errors) as? [String: String] == ["error": message])
        #expect(printed.errors.hasSuffix("}\n"))
        #expect(try home.prefs(arguments) == Printed(errors: "prefs: \(message)\n", code: code))
        #expect(try home.folder.names() == [])
    }

    @Test func aWordAfterTwoDashesIsNotTheJSONOption() throws {
        let home = try HarnessHome()
        #expect(try home.prefs("get", "--", "--json") == .unknownKey("--json"))
        #expect(try home.prefs("set", "int", "--", "--json").errors.hasPrefix("prefs: Integer Value: "))
    }

    private func parse(_ text: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }
}
