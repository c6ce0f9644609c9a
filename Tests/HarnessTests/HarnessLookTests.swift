import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// What looks never writes: no byte, name, inode or time changes, and nothing is created.
@Suite struct HarnessLookTests {
    /// `FILE` stands for each of `files`.
    static let looks: [[String]] = [
        [], ["--json"], ["show"], ["show", "--file", "FILE"], ["show", "--file", "FILE", "--layers", "P"],
        ["show", "--root", "R"], ["get", "int"], ["get", "int", "--stored"], ["get", "array[0]", "--file", "FILE"],
        ["schema"], ["export"], ["export", "--format", "xml"], ["export", "-o", "-"], ["export", "--file", "FILE"],
        ["export", "--domain", "FILE"], ["export", "FILE"], ["domains"], ["find", "Value"], ["read"], ["read", "FILE"],
        ["read", "FILE", "R", "k"], ["read-type", "FILE", "R"], ["vet", "FILE"], ["doctor"], ["doctor", "FILE"],
        ["doctor", "FILE", "--json"], ["completions"], ["help"], ["help", "--man"], ["help", "int"], ["--version"],
        ["complete-words", "zsh", "read", "FILE", "R", ""], ["complete-words", "bash", "1", "prefs get ", ""],
        // Dry runs.
        ["set", "int", "3", "--dry-run"], ["set", "int", "3", "--dry-run", "--file", "FILE"],
        ["set", "int", "3", "--dry-run", "--force", "--file", "FILE"], ["unset", "int", "--dry-run", "--file", "FILE"],
        ["reset", "--dry-run", "--file", "FILE"], ["increment", "int", "--dry-run", "--file", "FILE"],
        ["toggle", "int", "--dry-run", "--file", "FILE"],
        ["import", "--dry-run", "--file", "FILE", "HOME/import.json"],
        ["import", "--dry-run", "--force", "--domain", "FILE", "HOME/import.json", "--replace"],
        ["write", "FILE", "R", "k", "v", "--dry-run"], ["write", "FILE", "R", "k", "v", "--dry-run", "--force"],
        ["rename", "FILE", "R", "S", "--dry-run"], ["delete", "FILE", "R", "--dry-run"],
        ["delete", "FILE", "--dry-run", "--force"], ["undo", "--dry-run"], ["undo", "FILE", "--dry-run"],
    ]

    private static let files = [
        "HOME/whole.plist", "HOME/whole.json", "HOME/damaged.plist", "HOME/damaged.json", "HOME/notes.txt",
        "HOME/empty.json", "HOME/folder/missing.plist", "HOME/link.plist", "persistentpreferences.harness", "Missing",
    ]

    /// Stored values with an undo, files that people have edited and files of other programs.
    private static func home() throws -> HarnessHome {
        let home = try HarnessHome()
        try home.storeSampleValues()
        for name in ["whole.plist", "whole.json", "damaged.plist", "damaged.json"] {
            try home.prefs("write", home.path(name), "R", "k", "v")
            try home.prefs("set", "--file", home.path(name), "int", "7")
        }
        try home.write(Data("<plist>&</plist>".utf8), to: "damaged.plist")
        try home.write(Data("{\"R\": {,}}".utf8), to: "damaged.json")
        try home.write(Data("my notes".utf8), to: "notes.txt")
        try home.write(Data(), to: "empty.json")
        try home.write(Data(#"{"Integer Value": 1}"#.utf8), to: "import.json")
        try FileManager.default.createSymbolicLink(atPath: home.path("link.plist"), withDestinationPath: "whole.plist")
        return home
    }

    @Test func everyCommandIsInTheTable() {
        let commands = Set(Self.looks.compactMap(\.first))
        // The last is for files of its own.
        #expect(Set(CommandSpec.all.map(\.name)).subtracting(commands) == ["edit", "watch", "stress"])
    }

    @Test(arguments: looks) func aLookChangesNothing(words: [String]) throws {
        let (home, empty) = (try Self.home(), try HarnessHome())
        let (before, nothing) = (try home.state(), try empty.state())
        for file in words.contains("FILE") ? Self.files : [""] {
            func run(in home: HarnessHome) throws {
                try home.prefs(words.map { $0.replacing("FILE", with: file).replacing("HOME", with: home.folder.path) })
            }
            try run(in: home)
            #expect(try home.state() == before, "\(file)")
            try run(in: empty)
            #expect(try empty.state() == nothing, "\(file)")
        }
    }

    private static let watched = [[], ["int"], ["--file", "HOME/whole.json"], ["HOME/damaged.json"]]

    @Test(arguments: watched) func aWatchChangesNothing(words: [String]) throws {
        for home in try [Self.home(), HarnessHome()] {
            let before = try home.state()
            let words = ["watch"] + words.map { $0.replacing("HOME", with: home.folder.path) }
            let child = try PipedChild("prefs", words, home: home.folder, mergesErrors: true)
            var line = try child.line()
            if !line.hasPrefix("prefs: watching ") { line = try child.line() }
            #expect(line.hasPrefix("prefs: watching "))
            child.send(SIGINT)
            _ = try child.exitCode()
            #expect(try home.state() == before)
        }
    }

    #if os(Linux)
        @Test(
            .enabled(
                if: Hazard.canRun(
                    "edit without a change", if: access("/dev/ptmx", W_OK) == 0, else: "no pseudo-terminals")),
            arguments: [[], ["--file", "HOME/whole.json"], ["HOME/damaged.json"], ["Missing"]], ["xterm", "dumb"])
        func anEditorWithoutAChangeChangesNothing(words: [String], kind: String) throws {
            for home in try [Self.home(), HarnessHome()] {
                let before = try home.state()
                let terminal = try PseudoTerminal(
                    Child.executable("prefs"), ["edit"] + words.map { $0.replacing("HOME", with: home.folder.path) },
                    environment: ["HOME": home.folder.path, "TERM": kind], columns: 80, rows: 24)
                if kind == "dumb" {
                    try terminal.wait(forText: "q> ")
                } else {
                    try terminal.wait(for: "the form") { $0.isAlternate && $0.lines.last?.isEmpty == false }
                }
                try terminal.type(kind == "dumb" ? "q\n" : "q")
                _ = try terminal.exitCode()
                #expect(try home.state() == before)
            }
        }
    #endif
}
