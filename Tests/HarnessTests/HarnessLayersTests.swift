import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

@testable import PrefsTool

/// `prefs --layers PREFIX` and `--layer FILE`: the environment above the store, files below it. The command of a program
/// whose store has layers.
@Suite(.waits) final class HarnessLayersTests: HarnessSuite {
    private var file: String { home.path("f.plist") }

    /// With layers, a file has the values of the program.
    private func layered(
        _ arguments: [String], _ variables: [String: String] = ["APP_String_Value": "above"]
    ) throws -> Printed {
        try prefs(arguments + ["-f", file, "--layers", "APP_"], variables)
    }

    @Test func commandsShowWhatLayersSet() throws {
        let files = [
            try home.write(#"{"PrefsTestSet": {"Array Value": ["a"]}}"#, to: "a.json").path,
            try home.write(["PrefsTestSet": ["Array Value": ["b"], "Dictionary Value": [:]]], to: "b.plist").path,
        ]
        func run(_ arguments: String...) throws -> Printed {
            try layered(arguments + files.flatMap { ["--layer", $0] })
        }
        #expect(try prefs("set", "int", "7", in: file) == Printed())
        #expect(try run("get", "string", "int") == Printed("above\n7\n"))
        #expect(try run("export").output == "{\n  \"Integer Value\": 7\n}\n")
        #expect(try prefs("get", "string", "--stored", in: file).code == 1, "nothing was stored")
        #expect(try run("get", "int", "--stored") == Printed("7\n"))
        for key in ["string", "array"] { #expect(try run("get", key, "--stored") == .failure("`\(key)` is not set")) }
        let lines = try run("show").output.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(
            lines.suffix(6) == [
                "KEY STORED AS TYPE SOURCE VALUE", "int Integer Value Int stored 7",
                "string String Value String layer environment above",
                // The first file wins.
                #"array Array Value [String] layer \#(files[0]) ["a"]"#,
                "dictionary Dictionary Value [String: String] layer \(files[1]) {}",
                "date Date Value Date default 2001-01-01T00:00:00Z",
            ])
        #expect(try prefs("set", "array", "c", in: file) == Printed())
        #expect(try run("get", "array") == Printed("[\"c\"]\n"), "files are defaults")
    }

    @Test func aBadVariableIsReported() throws {
        let message = "layer environment: APP_Integer_Value: expected Int, found \"many\": not a number; ignored"
        let variables = ["APP_Integer_Value": "many"]
        #expect(try prefs("set", "int", "7", in: file) == Printed())
        let printed = Printed("7\n", errors: "prefs: \(message)\n")
        #expect(try layered(["get", "int"], variables) == printed)
        for command in ["show", "export"] {
            let other = try layered([command], variables)
            #expect(other.errors == printed.errors && other.code == 0)
        }
        #expect(try layered(["get", "int"], ["APP_Integer_Value": "8"]) == Printed("8\n"))
    }

    /// No access reports it. Beside another fault, too.
    @Test func aVariableThatNoKeyHasIsTold() throws {
        #expect(try prefs("set", "int", "7", in: file) == Printed())
        let unused = """
            prefs: APP_INT: environment: no key has this variable
            prefs: APP_INTEGER_VALU: environment: no key has this variable; did you mean "APP_INTEGER_VALUE"?

            """
        let variables = ["APP_INT": "8", "APP_INTEGER_VALU": "9"]
        #expect(try layered(["get", "int"], variables) == Printed("7\n", errors: unused))
        #expect(try layered(["show"], variables).errors == unused)
        let both = try layered(["get", "int"], variables.merging(["APP_Integer_Value": "many"]) { $1 })
        #expect(both.errors.hasPrefix(unused) && both.errors.hasSuffix("not a number; ignored\n") && both.code == 0)
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

    // MARK: - A program whose store has layers

    private var ofProgram: Program?

    override var program: Program? { ofProgram }

    /// Commands are then those of a program with arguments and an environment above its file.
    private func useProgram(
        _ layout: DomainLayout = .flat, _ variables: [String: String] = [:], below: [PrefsLayer] = []
    ) {
        let store = PrefsStore.layered(
            PrefsStore.json(url: home.folder.file("config.json"), layout: layout),
            above: [.arguments(["p", "--no-wraps"]), .environment(prefix: "APP_", in: variables)], below: below)
        ofProgram = Program(name: "named prefs") { AppPrefs(key: $0, values: nil, store: $1 ?? store) }
    }

    @Test func theHelpOfAKeyHasItsNames() throws {
        useProgram()
        let size = try prefs("help", "fontSize").output
        #expect(size.contains("  option      --font-size, -fontSize\n"))
        #expect(size.contains("  variable    APP_FONT_SIZE, APP_fontSize\n"))
        let flag = try prefs("help", "wraps").output
        #expect(flag.contains("  option    --wraps, --no-wraps, -wraps\n"))
        #expect(try home.folder.names() == [])
        // The class alone has no names.
        #expect(try !Help(of: AppPrefs.program).text("fontSize").contains("option"))
    }

    @Test func aReplacingImportKeepsWhatALayerCovers() throws {
        try home.write(#"{"theme": "dark", "wraps": true, "user name": "u"}"#, to: "config.json")
        useProgram(.flat, ["APP_THEME": "light"])
        let imported = try home.write(#"{"fontSize": 9}"#, to: "i.json").path
        #expect(try prefs("import", imported, "--replace") == Printed())
        #expect(
            try Printed(home.text("config.json")).object() as NSDictionary
                == ["theme": "dark", "wraps": true, "fontSize": 9])
    }

    /// A variable is no part of the root.
    @Test(arguments: [DomainLayout.flat, .roots]) func theDoctorNamesAMisspelledVariable(_ layout: DomainLayout) throws
    {
        useProgram(layout, ["APP_FONTSIZE": "20"])
        #expect(try prefs("set", "user", "7") == Printed())
        let printed = try prefs("doctor")
        #expect(printed.output.contains("\nstate        JSON, \(layout == .flat ? "" : "1 root, ")1 value\n"))
        #expect(
            printed.output.contains(
                "\nproblem: APP_FONTSIZE: environment: no key has this variable; did you mean \"APP_FONT_SIZE\"?\n"),
            "\(printed)")
    }

    /// The file that an administrator edits is no part of the root, either.
    @Test(arguments: [DomainLayout.flat, .roots]) func theDoctorNamesAMisspelledKeyOfALayersFile(
        _ layout: DomainLayout
    ) throws {
        let values: [String: Any] = ["fontSzie": 20]
        let content = layout == .flat ? values : ["AppPrefs": values]
        let file = try home.write(JSONSerialization.data(withJSONObject: content), to: "named.json")
        useProgram(layout, below: [.system("named", in: ["XDG_CONFIG_DIRS": home.folder.path])])
        #expect(try prefs("set", "user", "7") == Printed())
        let printed = try prefs("doctor")
        let problem = "fontSzie in \(file.path): system: is not a key of AppPrefs; did you mean \"fontSize\"?"
        #expect(printed.output.contains("\nproblem: \(problem)\n"), "\(printed)")
        #expect(!printed.output.contains("nothing needs mending"))
    }
}
