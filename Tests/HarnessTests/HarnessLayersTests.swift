import Foundation
import TestSupport
import Testing

/// `prefs --layers PREFIX`: the environment above the store.
@Suite struct HarnessLayersTests {
    private let home: HarnessHome

    init() throws {
        home = try HarnessHome()
    }

    private func prefs(_ arguments: String..., variables: [String: String] = ["APP_String_Value": "above"]) throws
        -> Printed
    {
        let environment = variables.merging(["HOME": home.folder.path]) { $1 }
        return Printed(
            try Child(
                "prefs", arguments + ["--file", home.path("f.plist"), "--layers", "APP_"], environment: environment
            )
            .wait())
    }

    @Test func commandsShowWhatLayersSet() throws {
        #expect(try prefs("set", "int", "7") == Printed())
        #expect(try prefs("get", "string") == Printed("above\n"))
        #expect(try prefs("get", "int") == Printed("7\n"))
        #expect(
            try prefs("set", "string", "x")
                == .failure(
                    "\"String Value\" is set by the layer environment (APP_String_Value); the stored state is unchanged"
                ))
        #expect(try prefs("set", "string", "above") == Printed())
        #expect(try prefs("export").output == "{\n  \"Integer Value\": 7,\n  \"String Value\": \"above\"\n}\n")
        #expect(try home.prefs("get", "string", "--stored", "--file", home.path("f.plist")).code == 1, "nothing was stored")
        let lines = try prefs("show").output.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.contains("KEY NAME TYPE SOURCE VALUE"))
        #expect(lines.contains("Integer Value int Int stored 7"))
        #expect(lines.contains("String Value string String environment above"))
        #expect(lines.contains("Date Value date Date default 0000-12-30T00:00:00Z"))
    }

    @Test func theOptionBelongsToTheCommandsThatShowValues() throws {
        #expect(
            try prefs("reset")
                == .usageError(
                    "`reset` does not accept --layers; it is an option of `show`, `get`, `set`, `watch`, `export`"))
        #expect(
            try home.prefs("export", "--domain", "x", "--layers", "A")
                == .usageError("--domain cannot be combined with --layers"))
    }
}
