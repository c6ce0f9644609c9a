import Foundation
import Testing
import TestSupport

@testable import PrefsSupport
@testable import PrefsTool

/// Every command has its rows in the tables of these tests: a new command without them fails here.
@Suite(.waits) final class HarnessCommandTableTests: HarnessSuite {
    private static let names = PrefsCommands.all.map(\.name)

    /// The names of the commands in a table of arguments. Arguments without a command name run `show`.
    private static func commands(in table: [[String]]) -> Set<String> {
        Set(table.map { arguments in arguments.first { names.contains($0) } ?? "show" })
    }

    /// `edit` needs a terminal, `watch` runs until a signal, `stress` uses its own files, and `import` reads its file
    /// first, so they have their own tests. The same holds for commands on files.
    @Test func everyCommandIsInTheTables() {
        let rows = ToolMessage.usage.map(\.0).filter { row in row.contains { Self.names.contains($0) } }
        #expect(Set(Self.exitCodes.keys) == Set(Self.names))
        #expect(Self.commands(in: rows) == Set(Self.names))
        #expect(Self.commands(in: TerminalSafetyTests.commands) == Set(Self.names))
        let looks = Set(HarnessLookTests.looks.compactMap(\.first))
        #expect(Set(Self.names).subtracting(looks) == ["edit", "watch", "stress"])
        let ofTestSet = Set(PrefsCommands.all.filter { $0.accepts(.root) }.map(\.name))
            .subtracting(["edit", "watch", "find", "undo", "doctor", "schema", "cp", "mv"])
        #expect(Self.commands(in: HarnessErrorTests.commands) == ofTestSet.subtracting(["import"]))
        #expect(Self.commands(in: HarnessDamageTests.commands) == ofTestSet)
    }

    // MARK: - Options

    /// A new option needs a row, and so does another text.
    @Test func everyOptionIsInATableWithItsText() {
        let found = Dictionary(
            ToolOptions.all.map { ("\($0.synopsis)\($0.isRepeatable ? " …" : "")", $0.summary) },
            uniquingKeysWith: { $1 })
        for option in Set(found.keys).union(ToolOptions.texts.keys).sorted() {
            #expect(found[option] == ToolOptions.texts[option], "\(option)")
        }
    }

    @Test func theOptionsOfEveryCommandAreInATable() {
        let found = Dictionary(
            uniqueKeysWithValues: PrefsCommands.all.map { ($0.name, $0.options.map(\.name).joined(separator: " ")) })
        for command in Set(found.keys).union(ToolOptions.ofCommands.keys).sorted() {
            #expect(found[command] == ToolOptions.ofCommands[command], "\(command)")
        }
    }

    @Test func everyOptionIsUsedByATest() throws {
        let words = try SourceMessages.words(
            in: ["Tests/HarnessTests", "Tests/EtcdTests"], without: "ToolOptions.swift")
        #expect(Set(ToolOptions.all.map(\.name)).subtracting(words).sorted() == [])
    }

    // MARK: - Exit codes

    /// Arguments of a run that exits with 0, and of one that exits with 1; nil if the command cannot, or if another suite
    /// covers it. `HOME` stands for the home folder.
    private static let exitCodes: [String: (success: [String]?, failure: [String]?)] = [
        "show": (["show"], ["show", "-f", ".x"]),
        "get": (["get", "int"], ["get", "nope"]),
        "find": (["find", "integer"], ["find", "nowhere"]),
        // HarnessWatchTests ends it by a signal.
        "watch": (nil, ["watch", "nope"]),
        "diff": (["diff", "HOME/x.json", "HOME/x.json"], ["diff", "HOME/x.json", "HOME/y.json"]),
        "set": (["set", "int", "1"], ["set", "nope", "1"]),
        "unset": (["unset", "int"], ["unset", "nope"]),
        // EditFileTests.
        "edit": (nil, nil),
        "undo": (["undo"], ["undo", "-f", "Nowhere"]),
        "export": (["export"], ["export", "-o", "HOME/nowhere/x"]),
        "import": (["import", "HOME/x.json"], ["import", "HOME/nowhere/x"]),
        "doctor": (["doctor"], ["doctor", "-f", ".x"]),
        "schema": (["schema"], nil),
        "completions": (["completions"], nil),
        "help": (["help"], nil),
        "cp": (["cp", "HOME/x.json:Integer Value", "int"], ["cp", "nope", "int"]),
        "mv": (["mv", "HOME/x.json:Integer Value", "HOME/y.json:i"], ["mv", "nope", "int"]),
        // HarnessStressTests makes it lose writes.
        "stress": (["stress", "--threads", "1", "--processes", "1", "--writes", "1"], nil),
    ]

    private static func home() throws -> HarnessHome {
        let home = try HarnessHome()
        try home.storeSampleValues()
        try home.write(#"{"Integer Value": 5}"#, to: "x.json")
        try home.write(#"{"Integer Value": 6}"#, to: "y.json")
        return home
    }

    /// The built program runs every command, and other tests may run it in this process: the result and the files are
    /// the same.
    @Test(arguments: PrefsCommands.all.map(\.name)) func everyCommandExitsWithItsCodes(command: String) throws {
        let row = try #require(Self.exitCodes[command], "a new command needs a row")
        #expect(row.success != nil || row.failure != nil || command == "edit", "no process runs it")
        let (home, twin) = (try Self.home(), try Self.home())
        for (arguments, code) in [(row.success, 0), (row.failure, 1)] {
            guard let arguments else { continue }
            let printed = try home.process(words(arguments, home))
            #expect(printed.code == code, "\(arguments): \(printed)")
            guard HarnessHome.needsNoProcess(arguments) else { continue }
            #expect(try comparable(twin.prefs(words(arguments, twin)), twin) == comparable(printed, home))
            #expect(try contents(twin) == contents(home))
        }
    }

    private func words(_ arguments: [String], _ home: HarnessHome) -> [String] {
        arguments.map { $0.replacing("HOME", with: home.folder.path) }
    }

    private func comparable(_ printed: Printed, _ home: HarnessHome) -> Printed {
        func text(_ text: String) -> String {
            text.replacing(home.folder.path, with: "HOME").replacing(/[0-9-]{10}T[0-9:.]+Z/, with: "TIME")
        }
        return Printed(text(printed.output), errors: text(printed.errors), code: printed.code)
    }

    /// The files in the home. The names and the contents of those for an undo depend on its path.
    private func contents(_ home: HarnessHome) throws -> [String: Data?] {
        var contents: [String: Data?] = [:]
        for path in home.paths where !path.contains("/undo/") {
            contents[path] = .some(FileManager.default.contents(atPath: home.path(path)))
        }
        return contents
    }
}
