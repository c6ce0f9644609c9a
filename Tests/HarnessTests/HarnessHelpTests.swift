import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// Help, version, completions and the order of arguments.
@Suite struct HarnessHelpTests {
    private static let commands = CommandSpec.all.map(\.name)

    @Test func theHelpNamesEveryCommandAndOption() throws {
        let home = try HarnessHome()
        let help = try home.prefs("--help")
        #expect(help.code == 0)
        #expect(help.errors == "")
        for command in Self.commands.dropFirst() { #expect(help.output.contains("\n  prefs \(command)")) }
        for option in OptionSpec.all { #expect(help.output.contains("\n  \(option.name) ")) }
        #expect(help.output.contains("\n  prefs [show] "))
        for words in [["-h"], ["help"], ["help", "--json"]] { #expect(try home.prefs(words) == help) }
        #expect(try home.folder.names() == [])
    }

    @Test(arguments: commands)
    func eachCommandHasHelpAndAnExampleThatIsUnderstood(command: String) throws {
        let home = try HarnessHome()
        let help = try home.prefs("help", command)
        #expect(help.code == 0)
        #expect(help.output.hasPrefix("prefs \(command)"))
        if command != "help" { #expect(try home.prefs(command, "--help") == help) }
        let example = try #require(help.output.split(separator: "\n").last { $0.hasPrefix("Example: ") })
        #expect(example.contains("prefs"))
        guard !["edit", "watch", "stress", "completions"].contains(command) else { return }
        var words = example.split(separator: " ").dropFirst(2).map(String.init)
        // The files of the examples do not exist.
        words = words.map { $0.hasSuffix(".plist") ? home.path($0) : $0 }
        #expect(try home.prefs(words).code != 64)
    }

    @Test func theVersionHasThreeNumbers() throws {
        let home = try HarnessHome()
        let printed = try home.prefs("--version")
        #expect(printed.code == 0)
        #expect(printed.output.wholeMatch(of: #/prefs [0-9]+\.[0-9]+\.[0-9]+\n/#) != nil)
    }

    @Test func aValueMayFollowAnEqualsSign() throws {
        let home = try HarnessHome()
        let file = home.path("a=b.plist")
        #expect(try home.prefs("--file=\(file)", "set", "string", "x", "--root=R") == Printed())
        #expect(try home.prefs("get", "string", "--file", file, "--root", "R") == Printed("x\n"))
        #expect(try home.folder.names().contains("a=b.plist"))
    }

    @Test func bashCompletesFiles() throws {
        let home = try HarnessHome()
        for name in ["sp ace.plist", "sp *", "sp", "other"] { try home.write(Data(), to: name) }
        let prefs = try Child.executable("prefs").path
        for before in ["vet", "--file"] {
            let script = """
                source <("$0" completions) && cd "$HOME" || exit 1
                COMP_WORDS=(prefs \(before) sp) COMP_CWORD=2
                _prefs
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let shell = try Child(
                URL(filePath: "/bin/bash"), ["--norc", "-euc", script, prefs], environment: ["HOME": home.folder.path])
            let printed = Printed(try shell.wait())
            #expect(printed.errors == "")
            #expect(printed.output.split(separator: "\n").sorted() == ["sp", "sp *", "sp ace.plist"])
        }
    }

    /// The words of a command line, and the completions of the last one.
    private static let completions: [(words: [String], offers: [String])] = [
        (["prefs", "ex"], ["export"]),
        (["prefs", "re"], ["reset", "read", "read-type"]),
        (["prefs", "get", "d"], ["dictionary", "date"]),
        (["prefs", "--root", "R", "get", "int", "--su"], ["--suite"]),
        (["prefs", "export", "--format", "x"], ["xml"]),
        (["prefs", "import", "--d"], ["--domain", "--dry-run"]),
        (["prefs", "get", "--d"], ["--default"]),
        (["prefs", "help", "wa"], ["watch"]),
        (["prefs", "stress", "--k"], ["--kill"]),
    ]

    @Test(arguments: completions)
    func bashCompletes(words: [String], offers: [String]) throws {
        let home = try HarnessHome()
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            source <("$0" completions) || exit 1
            COMP_WORDS=(\(list)) COMP_CWORD=\(words.count - 1)
            _prefs
            complete -p prefs > /dev/null || exit 2
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let prefs = try Child.executable("prefs").path
        let shell = try Child(
            URL(filePath: "/bin/bash"), ["--norc", "-euc", script, prefs], environment: ["HOME": home.folder.path])
        let printed = Printed(try shell.wait())
        #expect(printed.errors == "")
        #expect(printed.output.split(separator: "\n").map(String.init) == offers)
    }
}
