import EngineSupport
import Foundation
import TestSupport
import Testing

/// The example of a program with a command for its settings: every command, with valid and invalid input.
@Suite(.waits) struct SketchTests {
    private let home: TemporaryFolder

    init() throws {
        home = try TemporaryFolder()
    }

    private func run(_ arguments: [String]) throws -> (output: String, errors: String, code: Int32) {
        let result = try Child("Sketch", arguments, home: home).wait()
        return (result.output, result.errors, result.code)
    }

    /// The output of a command that succeeds and prints nothing to standard error.
    private func prefs(_ arguments: String...) throws -> String {
        let result = try run(["prefs"] + arguments)
        #expect(result.code == 0 && result.errors.isEmpty, "\(arguments): \(result)")
        return result.output
    }

    @Test func settingsOfEachTypeAreReadAndWritten() throws {
        #expect(try run([]).output == "                    \n--------------------\n                    \npaper\n")
        for (key, text, printed) in [
            ("width", "2", "2"), ("opacity", "0.25", "0.25"), ("pen", "ink", "ink"), ("grid", "true", "true"),
            ("layers", "paper,sky", #"["paper","sky"]"#),
            ("canvas", #"{"width":10,"height":4}"#, #"{"height":4,"width":10}"#),
            ("due", "2026-11-24T08:00:00Z", "2026-11-24T08:00:00Z"),
        ] {
            #expect(try prefs("set", key, text) == "")
            #expect(try prefs("get", key) == printed + "\n")
            #expect(try prefs("get", key, "--stored") == printed + "\n")
        }
        #expect(
            try run([]).output
                == ":    :    \n----------\n----------\n:    :    \npaper < sky, due 2026-11-24T08:00:00Z\n")
        #expect(try prefs("unset", "width", "due") == "" && prefs("get", "width") == "1\n")
        let shown = try prefs("show").split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(shown.contains("width Int default 1") && shown.contains("pen Pen stored ink"))
        #expect(try prefs("unset", "--all") == "" && run([]).output.hasSuffix("paper\n"))
    }

    @Test(arguments: [
        (["set", "width", "10"], "width: must be in 1...9, found 10"),
        (["set", "pen", "+1"], "pen: expected one of pencil, ink, brush, found \"+1\""),
        (["set", "pen=ink", "opacity=2"], "opacity: must be in 0.0...1.0, found 2"),
        (["set", "canvas.depth", "1"], "no field `canvas.depth`"), (["get", "due"], "`due` is not set"),
    ])
    func whatIsRejectedChangesNothing(_ words: [String], _ reason: String) throws {
        let result = try run(["prefs"] + words)
        #expect(result.code == 1 && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasPrefix("Sketch prefs: ") && result.errors.contains(reason), "\(result.errors)")
        #expect(try home.names().isEmpty)
    }

    @Test func valuesGoOutAndComeBack() throws {
        try _ = prefs("set", "width=4", "pen=brush")
        let file = home.file("out.json").path(percentEncoded: false)
        #expect(try prefs("export", "-o", file) == "" && prefs("unset", "--all") == "")
        #expect(try prefs("import", "--dry-run", file).contains("width"))
        #expect(try prefs("get", "width") == "1\n")
        #expect(try prefs("import", file) == "" && prefs("get", "width") == "4\n")
        #expect(
            try prefs("undo") == "- SketchPrefs: {\"pen\":\"brush\",\"width\":4}\n" && prefs("get", "width") == "1\n")
        #expect(try prefs("doctor").contains("nothing needs mending"))
    }

    /// The program and its command both have an option `--format`.
    @Test func optionsOfACommandAreNoSettings() throws {
        #expect(try run(["--format", "markdown"]).output.hasPrefix("```\n"))
        #expect(try prefs("export", "--format", "json") == "{}\n")
        #expect(try prefs("get", "format") == "text\n")
    }

    @Test func theProgramExplainsItself() throws {
        #expect(try prefs("help", "pen").contains("What draws the line."))
        let help = try prefs("help")
        #expect(help.contains("Sketch prefs") && !help.contains("stress"))
        #expect(try prefs("completions", "zsh").contains("Sketch"))
        let schema = try JSONSerialization.jsonObject(with: Data(prefs("schema").utf8)) as? [String: Any]
        #expect((schema?["properties"] as? [String: Any])?.count == 8)
    }
}
