import Foundation
import Testing
import TestSupport

@testable import PrefsTool
import PrefsJSON

/// `prefs --layers PREFIX` and `--layer FILE`: the environment above the store, files below it.
@Suite(.waits) final class HarnessLayersTests: HarnessSuite {
    private var file: String { home.path("f.plist") }

    /// With layers, a file has the values of the program.
    private func layered(
        _ arguments: [String], _ variables: [String: String] = ["APP_String_Value": "above"]
    ) throws -> Printed {
        try prefs(arguments + ["-f", file, "--layers", "APP_"], variables)
    }

    @Test func commandsShowWhatLayersSet() throws {
        #expect(try prefs("set", "int", "7", in: file) == Printed())
        #expect(try layered(["get", "string", "int"]) == Printed("above\n7\n"))
        #expect(try layered(["export"]).output == "{\n  \"Integer Value\": 7\n}\n")
        #expect(try prefs("get", "string", "--stored", in: file).code == 1, "nothing was stored")
        let lines = try layered(["show"]).output.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.contains("KEY STORED AS TYPE SOURCE VALUE"))
        #expect(lines.contains("int Integer Value Int stored 7"))
        #expect(lines.contains("string String Value String layer environment above"))
        #expect(lines.contains("date Date Value Date default 0000-12-30T00:00:00Z"))
    }

    @Test func aBadVariableIsReported() throws {
        let message = "layer environment: APP_Integer_Value: expected Int, found \"many\": not a number; ignored"
        let variables = ["APP_Integer_Value": "many"]
        #expect(try prefs("set", "int", "7", in: file) == Printed())
        let printed = Printed("7\n", errors: "prefs: \(message)\n")
        #expect(try layered(["get", "int"], variables) == printed)
        #expect(try layered(["show"], variables).errors == printed.errors)
        #expect(try layered(["show"], variables).code == 0)
        #expect(try layered(["export"], variables).errors == printed.errors)
        #expect(try layered(["get", "int"], ["APP_Integer_Value": "8"]) == Printed("8\n"))
        #expect(try layered(["get", "array"], ["APP_Array_Value": "a,b"]) == Printed("[\"a\",\"b\"]\n"))
    }

    @Test func filesAreDefaults() throws {
        let files = ["a.json", "b.plist"].map(home.path)
        try Data(#"{"PrefsTestSet": {"Integer Value": 1}}"#.utf8).write(to: URL(filePath: files[0]))
        try writePropertyList(["PrefsTestSet": ["Integer Value": 2, "String Value": "b"]], to: URL(filePath: files[1]))
        func run(_ arguments: String...) throws -> Printed {
            try layered(
                arguments + files.flatMap { ["--layer", $0] }, ["APP_Date_Value": "2026-11-21T00:00:00Z"])
        }
        #expect(try run("get", "int") == Printed("1\n"), "the first file wins")
        #expect(try run("get", "string") == Printed("b\n"))
        #expect(try prefs("set", "int", "3", in: file) == Printed())
        #expect(try run("get", "int") == Printed("3\n"))
        let lines = try run("show").output.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.contains("string String Value String layer \(files[1]) b"))
        #expect(lines.contains("date Date Value Date layer environment 2026-11-21T00:00:00Z"))
    }

    @Test func watchShowsAChangeOfAFile() throws {
        let layer = home.path("layer.json")
        func write(_ number: Int) throws {
            let text = "{\"PrefsTestSet\": {\"Integer Value\": \(number)}}"
            try Data(text.utf8).write(to: URL(filePath: layer), options: .atomic)
        }
        try write(1)
        let file = home.path("f.json")
        let arguments = ["watch", "-f", file, "--layer", layer]
        let child = try PipedChild("prefs", arguments, home: home.folder, mergesErrors: true)
        #expect(try child.line().hasPrefix("prefs: watching "))
        try write(2)
        #expect(try child.line().hasSuffix("  Integer Value: 1 → 2"))
        try prefs("set", "int", "5", in: file)
        #expect(try child.line().hasSuffix("  Integer Value: 2 → 5"))
        child.send(SIGTERM)
        #expect(try child.exitCode() == 0)
    }

    @Test func theOptionBelongsToTheCommandsOnAPlace() throws {
        let owners = CommandSpec.all.filter { $0.options.contains { $0.name == "--layers" } }.map { "`\($0.name)`" }
        let printed = try prefs("diff", "a", "b", "--layers", "A")
        let option = "it is an option of \(owners.joined(separator: ", "))"
        #expect(printed == .usageError("`diff` does not accept --layers; \(option)"))
        #expect(try prefs("set", "int", "5") == Printed())
        // They cover the values of the program's own place, too.
        #expect(try prefs(["get", "int", "--layers", "APP_"], ["APP_Integer_Value": "8"]) == Printed("8\n"))
        for command in ["set", "unset", "import", "cp", "mv", "edit", "undo", "doctor"] {
            #expect(try prefs(command, "x", "y", "--layers", "A").code == 64, "it writes")
        }
    }
}
