import Foundation
import TestSupport
import Testing

/// The example of a program with settings from its arguments, the environment, the user's file and a file of the system, run as a process.
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
        let surroundings = ["HOME": home.path, "XDG_CONFIG_DIRS": "\(home.path)/none:\(system.path)"]
        let result = try Child("Greeter", arguments, environment: surroundings.merging(environment) { $1 }).wait()
        return (result.output.split(separator: "\n").map(String.init), result.errors, result.code)
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
            run.errors == "Greeter: layer environment: GREETER_times: must be in 1...5; "
                + "layer system: times in \(path): expected Int, found a string; "
                + "layer arguments: -polite: expected Bool, found another text; ignored\n")
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
        (["--save", "times", "9"], [:], "layer arguments: -times: must be in 1...5; ignored\n"),
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
