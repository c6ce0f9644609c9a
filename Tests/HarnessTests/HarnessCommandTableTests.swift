import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// Every command has its rows in the tables of these tests: a new command without them fails here.
@Suite struct HarnessCommandTableTests {
    private static let names = CommandSpec.all.map(\.name)

    /// The names of the commands in a table of arguments. Arguments without a command name run `show`.
    private static func commands(in table: [[String]]) -> Set<String> {
        Set(table.map { arguments in arguments.first { names.contains($0) } ?? "show" })
    }

    @Test func theCommandsAreThese() {
        #expect(
            Self.names == [
                "show", "get", "set", "unset", "reset", "increment", "toggle", "edit", "watch", "schema", "export",
                "import",
                "read", "read-type", "write", "delete", "vet", "doctor", "completions", "help", "stress",
            ])
    }

    @Test func everyCommandIsInTheUsageTable() {
        let rows = HarnessUsageTests.wrong.map(\.0).filter { row in row.contains { Self.names.contains($0) } }
        #expect(Self.commands(in: rows) == Set(Self.names))
    }

    @Test func everyCommandIsInTheTerminalSafetyTable() {
        #expect(Self.commands(in: TerminalSafetyTests.commands) == Set(Self.names))
    }

    /// `edit` needs a terminal, `watch` goes on until a signal, and `import` reads its file first: they have tests of their own.
    @Test func everyCommandOfTheTestSetIsInTheErrorTables() {
        let ofTestSet = Set(CommandSpec.all.filter { $0.accepts(.root) }.map(\.name))
        #expect(
            Self.commands(in: HarnessErrorTests.commands)
                == ofTestSet.subtracting(["edit", "watch", "import", "toggle"]))
        #expect(Self.commands(in: HarnessDamageTests.commands) == ofTestSet.subtracting(["edit", "watch", "toggle"]))
    }

    // MARK: - Exit codes

    private struct ExitCodes {
        /// Arguments of a run that exits with 0; nil if another suite covers it.
        let success: [String]?
        /// Arguments of a run that exits with 1; nil if the command cannot fail, or another suite covers it.
        let failure: [String]?
    }

    /// `HOME` stands for the home folder.
    private static let exitCodes: [String: ExitCodes] = [
        "show": ExitCodes(success: ["show"], failure: ["show", "--suite", ".x"]),
        "get": ExitCodes(success: ["get", "int"], failure: ["get", "nope"]),
        "set": ExitCodes(success: ["set", "int", "1"], failure: ["set", "nope", "1"]),
        "unset": ExitCodes(success: ["unset", "int"], failure: ["unset", "nope"]),
        "reset": ExitCodes(success: ["reset"], failure: ["reset", "--suite", ".x"]),
        "increment": ExitCodes(success: ["increment", "int"], failure: ["increment", "string"]),
        "toggle": ExitCodes(success: nil, failure: ["toggle", "int"]),
        "schema": ExitCodes(success: ["schema"], failure: nil),
        // EditorTerminalTests.
        "edit": ExitCodes(success: nil, failure: nil),
        // HarnessWatchTests ends it by a signal.
        "watch": ExitCodes(success: nil, failure: ["watch", "nope"]),
        "read": ExitCodes(success: ["read", HarnessHome.suite], failure: ["read", "Nowhere"]),
        "read-type": ExitCodes(
            success: ["read-type", HarnessHome.suite, "PrefsTestSet"], failure: ["read-type", "Nowhere", "R"]),
        "write": ExitCodes(success: ["write", "D", "R", "v"], failure: ["write", ".x", "R", "v"]),
        "delete": ExitCodes(success: ["delete", HarnessHome.suite], failure: ["delete", "Nowhere"]),
        "export": ExitCodes(success: ["export"], failure: ["export", "HOME/nowhere/x"]),
        "import": ExitCodes(success: ["import", "HOME/x.json"], failure: ["import", "HOME/nowhere/x"]),
        "vet": ExitCodes(
            success: ["vet", "HOME/.config/\(HarnessHome.suite).plist"], failure: ["vet", "HOME/nowhere"]),
        "doctor": ExitCodes(success: ["doctor"], failure: ["doctor", ".x"]),
        // HarnessStressTests has it lose writes.
        "stress": ExitCodes(
            success: ["stress", "--threads", "1", "--processes", "1", "--writes", "1"], failure: nil),
        "completions": ExitCodes(success: ["completions"], failure: nil),
        "help": ExitCodes(success: ["help"], failure: nil),
    ]

    @Test(arguments: CommandSpec.all.map(\.name)) func everyCommandExitsWithItsCodes(command: String) throws {
        let row = try #require(Self.exitCodes[command], "a new command needs a row")
        let home = try HarnessHome()
        try home.prefs()
        try home.write(Data(#"{"Integer Value": 5}"#.utf8), to: "x.json")
        for (arguments, code) in [(row.success, 0), (row.failure, 1)] {
            guard let words = arguments?.map({ $0.replacing("HOME", with: home.folder.path) }) else { continue }
            let printed = try home.prefs(words)
            #expect(printed.code == code, "\(words): \(printed)")
        }
    }
}
