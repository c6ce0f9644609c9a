import Foundation
import Testing
import TestSupport

@testable import PrefsTool

/// Help, version, manual page and the order of arguments.
@Suite(.waits) final class HarnessHelpTests: HarnessSuite {
    private static let commands = PrefsCommands.all.map(\.name)

    @Test func theHelpNamesEveryCommand() throws {
        let help = try prefs("--help")
        #expect(help.code == 0 && help.errors == "")
        for command in Self.commands { #expect(help.output.contains("\n  \(command)  ")) }
        for words in [["-h"], ["help"], ["help", "--json"]] { #expect(try prefs(words) == help) }
        #expect(try home.folder.names() == [])
    }

    @Test(arguments: [nil] + PrefsCommands.all.map(\.name) + ["int", "Dictionary Value", "options"])
    func theHelpFitsTheScreen(topic: String?) throws {
        let help = try HarnessHome().prefs(["help"] + (topic.map { [$0] } ?? []))
        let lines = help.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 40)
        for line in lines { #expect(DisplayWidth.of(String(line)) <= 80, "\(line)") }
    }

    @Test func optionsOfMostCommandsAreExplainedOnce() throws {
        let options = "\n" + (try prefs("help", "options").output)
        for option in OptionSpec.layeredPlaces + [.json, .help] { #expect(options.contains("\n  \(option.synopsis)")) }
        for command in ["get", "set", "export"] {
            #expect(try !prefs("help", command).output.contains("the program's settings under this root"))
        }
    }

    @Test func theHelpOfAKeyDescribesItsProperty() throws {
        let int = Printed(
            """
              key      Integer Value
              name     int
              type     Int
              default  10

            A whole number.

            Example: prefs set int 10

            """)
        #expect(try prefs("help", "int") == int)
        #expect(try prefs("help", "Integer Value") == int)
        let help = Help(of: AppPrefs.program)
        let theme = """
              key      theme
              type     Theme
              default  light
              choices  light, dark, solarized

            The colours of all windows.

            Example: myapp prefs set theme light

            """
        #expect(try help.text("theme") == theme)
        #expect(try help.text("fontSize").contains("  constraint  in 8.0...72.0\n"))
        #expect(try help.text("user").contains("  formerly  name\n"))
        #expect(try help.text("user").hasSuffix("Example: myapp prefs set user ''\n"))
    }

    /// An example has a key that the command can change.
    @Test func examplesNameKeysOfTheClass() throws {
        let help = Help(of: AppPrefs.program)
        for (command, example) in [
            ("get", "get theme"), ("set", "set theme light"), ("unset", "unset theme"), ("help", "help theme"),
        ] {
            #expect(try help.text(command).hasSuffix("\nExample: myapp prefs \(example)\n"))
        }
    }

    // MARK: - Manual page

    private static let readers: [(program: String, arguments: [String])] = [
        ("/usr/bin/mandoc", ["-Tlint", "-W", "warning"]),
        ("/usr/bin/man", ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]),
    ]

    private static let installedReaders = readers.filter { program, _ in
        Hazard.canRun("manual page: \(program)", if: access(program, X_OK) == 0, else: "it is not installed")
    }

    @Test(arguments: [nil, "myapp prefs"]) func theManualPageIsWellFormed(name: String?) throws {
        let printed = try prefs("help", "--man")
        #expect(printed.code == 0 && printed.errors == "")
        let text = name == nil ? printed.output : ManualPage(of: AppPrefs.program).text
        for command in name == nil ? PrefsCommands.all : AppPrefs.program.commands {
            #expect(text.contains("\n.B \(command.name.replacing("-", with: "\\-"))"))
        }
        let page = try home.write(text, to: "page.1")
        for (program, arguments) in Self.installedReaders {
            let read = try Child(URL(filePath: program), arguments + [page.path], environment: ["LC_ALL": "C.UTF-8"])
                .wait()
            #expect(read.code == 0 && read.errors == "", "\(read)")
            if program.hasSuffix("mandoc") { #expect(read.output == "") }
        }
    }

    @Test(arguments: commands)
    func theHelpOfACommandHasItsOptionsAndAnExampleThatIsUnderstood(command: String) throws {
        let help = try prefs("help", command)
        #expect(help.code == 0 && help.output.hasPrefix("prefs \(command)"))
        if command != "help" { #expect(try prefs(command, "--help") == help) }
        let spec = try #require(PrefsCommands.all.first { $0.name == command })
        // The options of most commands have their lines in the overview.
        for option in spec.options where !(OptionSpec.layeredPlaces).contains(where: { $0.name == option.name }) {
            #expect(help.output.contains("\n  \(option.name) "))
        }
        for option in spec.options + [.json, .help] {
            #expect(help.output.replacing("\n", with: " ").contains(" \(option.synopsis)"))
        }
        let example = try #require(help.output.split(separator: "\n").last { $0.hasPrefix("Example: ") })
        #expect(example.contains("prefs"))
        guard !["edit", "watch", "stress", "completions"].contains(command) else { return }
        var words = example.split(separator: " ").dropFirst(2).map(String.init)
        // The files of the examples do not exist.
        words = words.map { $0.hasSuffix(".plist") || $0.hasSuffix(".json") ? home.path($0) : $0 }
        #expect(try prefs(words).code != 64)
    }

    @Test func theVersionHasThreeNumbers() throws {
        let printed = try prefs("--version")
        #expect(printed.code == 0)
        #expect(printed.output.wholeMatch(of: #/prefs [0-9]+\.[0-9]+\.[0-9]+\n/#) != nil)
    }
}
