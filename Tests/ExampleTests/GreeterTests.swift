import Foundation
import TestSupport
import Testing

/// The example of a program with settings from its arguments, the environment, the user's file and a file of the
/// system, run as a process.
@Suite struct GreeterTests {
    private let home: TemporaryFolder
    private let system: URL

    init() throws {
        home = try TemporaryFolder()
        system = home.file("system")
        try FileManager.default.createDirectory(at: system, withIntermediateDirectories: true)
    }

    private func greeter(
        _ arguments: String..., environment: [String: String] = [:]
    ) throws -> (lines: [String], errors: String, code: Int32) {
        try greeter(arguments, environment: environment)
    }

    private func greeter(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (lines: [String], errors: String, code: Int32) {
        let surroundings = ["HOME": home.path, "XDG_CONFIG_DIRS": "\(home.path)/none:\(system.path)"]
        let result = try Child("Greeter", arguments, environment: surroundings.merging(environment) { $1 }).wait()
        return (result.output.split(separator: "\n").map(String.init), result.errors, result.code)
    }

    private var usersFile: URL { home.file(".config/greeter.plist") }

    private func writeUsersFile(_ content: [String: Any]) throws {
        try FileManager.default.createDirectory(
            at: usersFile.deletingLastPathComponent(), withIntermediateDirectories: true)
        try writePropertyList(content, to: usersFile)
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: system.appending(path: name))
    }

    @Test func eachLayerWinsOverThoseBelow() throws {
        #expect(try greeter().lines == ["Good day, World."])
        try write(#"{"times": 2, "names": ["System"], "polite": false}"#, "greeter.json")
        #expect(try greeter().lines == ["Hey System!", "Hey System!"])
        #expect(try greeter("--save", "names", "Ann,Bob").code == 0)
        #expect(try greeter("--save", "times", "1").code == 0)
        #expect(try greeter().lines == ["Hey Ann!", "Hey Bob!"])
        #expect(try greeter(environment: ["GREETER_polite": "yes"]).lines == ["Good day, Ann.", "Good day, Bob."])
        let run = try greeter("-names", #"["Eve, her"]"#, environment: ["GREETER_names": "Dan", "GREETER_polite": "1"])
        #expect(run.lines == ["Good day, Eve, her."])
        #expect(run.errors.isEmpty && run.code == 0)
        let stored = try propertyList(at: home.file(".config/greeter.plist"))
        #expect(stored as NSDictionary == ["names": ["Ann", "Bob"], "times": 1])
    }

    @Test func showTellsWhereEachValueComesFrom() throws {
        try write(#"{"times": 2}"#, "greeter.json")
        _ = try greeter("--save", "polite", "no")
        let run = try greeter("--show", environment: ["GREETER_names": "Ann,Bob"])
        #expect(run.lines == ["times = 2 (system)", "names = Ann,Bob (environment)", "polite = false (stored)"])
    }

    @Test func badValuesAreReportedAndIgnored() throws {
        try write(#"{"times": "2", "names": ["System"]}"#, "greeter.json")
        let run = try greeter("-polite", "perhaps", environment: ["GREETER_times": "99"])
        #expect(run.lines == ["Good day, System."])
        #expect(run.code == 0)
        let path = system.appending(path: "greeter.json").path
        #expect(
            run.errors == "Greeter: layer environment: GREETER_times: must be in 1...5, found 99; "
                + "layer system: times in \(path): expected Int, found a string; "
                + "layer arguments: -polite: expected one of true, false, found \"perhaps\"; ignored\n")
    }

    @Test(arguments: ["greeter.plist", "greeter.json"])
    func goodAndBadArgumentsMix(_ name: String) throws {
        let file = system.appending(path: name)
        if name == "greeter.plist" {
            try writePropertyList(["times": 2, "polite": "p"], to: file, as: .xml)
        } else {
            try write(#"{"times": 2, "polite": "p"}"#, name)
        }
        let arguments = ["-times", "9", "-names", "Ann", "-polite", "no", "-unknown", "1"]
        // The variable is not read, because the argument before it is valid.
        let run = try greeter(arguments, environment: ["GREETER_polite": "perhaps"])
        #expect(run.lines == ["Hey Ann!", "Hey Ann!"], "the good arguments count, and the next layer for the bad one")
        #expect(
            run.errors == "Greeter: layer arguments: -times: must be in 1...5, found 9; "
                + "layer system: polite in \(file.path): expected Bool, found a string; ignored\n")
        #expect(run.code == 0)
        let missing = try greeter("-times", "1", "-names")
        #expect(missing.lines == ["Good day, World."])
        #expect(missing.errors.hasPrefix("Greeter: layer arguments: -names: expected a value after it; "))
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func aPropertyListOfTheSystemCounts(_ format: PropertyListSerialization.PropertyListFormat) throws {
        try writePropertyList(["times": 2, "names": ["Ann"]], to: system.appending(path: "greeter.plist"), as: format)
        try write(#"{"names": ["JSON"], "polite": false}"#, "greeter.json")
        let run = try greeter()
        #expect(run.lines == ["Good day, Ann.", "Good day, Ann."], "the first file counts, and alone")
        #expect(run.errors.isEmpty)
        #expect(try greeter("--show").lines.first == "times = 2 (system)")
    }

    @Test func badValuesInTheUsersFileAreReportedAndKept() throws {
        let content: [String: Any] = ["times": 9, "names": "Ann", "polite": false, "other": 1]
        try writeUsersFile(content)
        try write(#"{"times": 2}"#, "greeter.json")
        let run = try greeter()
        #expect(run.lines == ["Hey World!", "Hey World!"], "the system's number of times is the next")
        #expect(
            run.errors == "Greeter: times: must be in 1...5\n"
                + "Greeter: names: expected Array<String>, found a string\n")
        #expect(run.code == 0)
        #expect(try propertyList(at: usersFile) as NSDictionary == content as NSDictionary, "nothing has changed")
        #expect(try greeter("-times", "2", "-names", "Bob").lines == ["Hey Bob!", "Hey Bob!"])
        #expect(try greeter("--save", "names", "Eve").code == 0)
        let saved = content.merging(["names": ["Eve"]]) { $1 }
        #expect(try propertyList(at: usersFile) as NSDictionary == saved as NSDictionary, "the other bad value stays")
        #expect(try greeter().lines == ["Hey Eve!", "Hey Eve!"])
    }

    @Test func showTellsWhyAFaultyKeyIsTheDefault() throws {
        try writeUsersFile(["times": 9, "names": ["Ann"]])
        try write(#"{"polite": "p"}"#, "greeter.json")
        let path = system.appending(path: "greeter.json").path
        let polite = "polite = true (default; ignored: layer system: polite in \(path): expected Bool, found a string)"
        #expect(
            try greeter("--show").lines == [
                "times = 1 (default; ignored: stored: times: must be in 1...5)", "names = Ann (stored)", polite,
            ])
        let both = try greeter("--show", "-names", "[1]", environment: ["GREETER_times": "many"])
        #expect(
            both.lines == [
                "times = 1 (default; ignored: layer environment: GREETER_times: expected Int, found \"many\": not a number; "
                    + "stored: times: must be in 1...5)",
                "names = Ann (stored; ignored: layer arguments: -names: names[0]: expected String, found an integer)",
                polite,
            ])
        let good = try greeter("--show", "-polite", "no", environment: ["GREETER_times": "3"])
        #expect(good.lines[0] == "times = 3 (environment)", "the stored value is not read")
        #expect(good.code == 0)
    }

    @Test func aDamagedFileOfTheSystemIsReportedAndIgnored() throws {
        try write("<plist", "greeter.plist")
        try write(#"{"times": 2}"#, "greeter.json")
        let run = try greeter(environment: ["GREETER_names": "Ann"])
        #expect(run.lines == ["Good day, Ann."], "the first file counts")
        #expect(run.errors.hasPrefix("Greeter: layer system: \(system.path)/greeter.plist: line 1"), "\(run.errors)")
        #expect(run.code == 0)
    }

    @Test func aDamagedFileOfTheUserIsReported() throws {
        let url = home.file(".config/greeter.plist")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("not a list".utf8).write(to: url)
        let run = try greeter("-times", "2")
        #expect(run.lines == ["Good day, World.", "Good day, World."])
        #expect(run.errors.hasPrefix("Greeter: \(url.path)"), "\(run.errors)")
        let save = try greeter("--save", "times", "3")
        #expect(save.code == 1)
        #expect(try String(contentsOf: url, encoding: .utf8) == "not a list")
    }

    @Test(arguments: [
        (["--save", "times", "9"], [:], "layer arguments: -times: must be in 1...5, found 9; ignored\n"),
        (
            ["--save", "times", "2"], ["GREETER_times": "3"],
            "\"times\" is set by the layer environment (GREETER_times); the stored state is unchanged\n"
        ),
    ])
    func aRejectedSettingIsNotSaved(_ arguments: [String], _ environment: [String: String], _ message: String) throws {
        let surroundings = ["HOME": home.path, "XDG_CONFIG_DIRS": system.path].merging(environment) { $1 }
        let result = try Child("Greeter", arguments, environment: surroundings).wait()
        #expect(result.code == 1)
        #expect(result.errors == "Greeter: " + message)
        #expect(!FileManager.default.fileExists(atPath: home.file(".config/greeter.plist").path))
    }
}
