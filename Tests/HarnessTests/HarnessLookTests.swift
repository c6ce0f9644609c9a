import Foundation
import Testing
import TestSupport

/// A command that reads never writes: no byte, name, inode or time changes, and nothing is created.
@Suite(.waits) struct HarnessLookTests {
    /// `FILE` stands for each of `files`.
    static let looks: [[String]] = [
        [], ["--json"], ["show"], ["show", "-f", "FILE"], ["show", "-f", "FILE", "--root", "PrefsTestSet"],
        ["show", "-f", "FILE", "--layers", "P"], ["show", "--root", "R"], ["show", "int"], ["show", "--domains"],
        ["get", "int"], ["get", "int", "--stored"], ["get", "array[0]", "-f", "FILE", "--root", "PrefsTestSet"],
        ["get", "-f", "FILE", "R.k"], ["get", "--type", "-f", "FILE", "R"], ["find", "Value"],
        ["find", "k", "-f", "FILE"], ["find", "Value", "--domains"], ["diff", "FILE", "HOME/whole.json"],
        ["schema"], ["export"], ["export", "--format", "xml"], ["export", "-o", "-"], ["export", "-f", "FILE"],
        ["export", "-f", "FILE", "--root", "PrefsTestSet"], ["export", "FILE"], ["show", "FILE"],
        ["get", "FILE", "R", "int"], ["doctor"], ["doctor", "-f", "FILE"], ["doctor", "-f", "FILE", "--json"],
        ["completions"], ["help"], ["help", "--man"], ["help", "int"], ["--version"],
        ["complete-words", "zsh", "get", "-f", "FILE", "R."], ["complete-words", "zsh", "get", "FILE", "R", ""],
        ["complete-words", "bash", "1", "prefs get ", ""],
        // Dry runs.
        ["set", "int", "3", "--dry-run"], ["set", "int", "3", "--dry-run", "-f", "FILE", "--root", "PrefsTestSet"],
        ["set", "int", "3", "--dry-run", "--force", "-f", "FILE", "--root", "PrefsTestSet"],
        ["set", "int", "+1", "--dry-run", "-f", "FILE", "--root", "PrefsTestSet"],
        ["set", "R.k", "v", "-f", "FILE", "--dry-run"], ["set", "R.n.m", "v", "-f", "FILE", "--dry-run", "--force"],
        ["unset", "int", "--dry-run", "-f", "FILE", "--root", "PrefsTestSet"],
        ["unset", "--all", "--dry-run", "-f", "FILE", "--root", "PrefsTestSet"],
        ["unset", "R", "-f", "FILE", "--dry-run"], ["unset", "--all", "-f", "FILE", "--dry-run", "--force"],
        ["import", "--dry-run", "-f", "FILE", "--root", "PrefsTestSet", "HOME/import.json"],
        ["import", "--dry-run", "--force", "-f", "FILE", "HOME/import.json", "--replace"],
        ["cp", "R", "S", "-f", "FILE", "--dry-run"], ["mv", "R", "S", "-f", "FILE", "--dry-run", "--force"],
        ["undo", "--dry-run"], ["undo", "-f", "FILE", "--dry-run"],
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
            try home.prefs("set", "-f", home.path(name), "R.k", "v")
            try home.prefs("set", "-f", home.path(name), "--root", "PrefsTestSet", "int", "7")
        }
        try home.write("<plist>&</plist>", to: "damaged.plist")
        try home.write("{\"R\": {,}}", to: "damaged.json")
        try home.write("my notes", to: "notes.txt")
        try home.write(Data(), to: "empty.json")
        try home.write(#"{"Integer Value": 1}"#, to: "import.json")
        try FileManager.default.createSymbolicLink(atPath: home.path("link.plist"), withDestinationPath: "whole.plist")
        return home
    }

    /// All looks share two homes, which stay as they are. In the usual form, the looks share the files, too.
    @Test func aLookChangesNothing() throws {
        let (home, empty) = (try Self.home(), try HarnessHome())
        let (before, nothing) = (try home.state(), try empty.state())
        for (number, words) in Self.looks.enumerated() {
            func run(in home: HarnessHome) throws {
                let files = Hazard.each(3, of: Self.files, from: number)
                for file in words.contains("FILE") ? files : [""] {
                    try home.prefs(
                        words.map { $0.replacing("FILE", with: file).replacing("HOME", with: home.folder.path) })
                }
            }
            try run(in: home)
            #expect(try home.state() == before, "\(words)")
            try run(in: empty)
            #expect(try empty.state() == nothing, "\(words)")
        }
    }

    private static let watched = [
        [], ["int"], ["-f", "HOME/whole.json", "--root", "PrefsTestSet"], ["-f", "HOME/damaged.json"],
    ]

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

    @Test(
        arguments: [
            [], ["-f", "HOME/whole.json", "--root", "PrefsTestSet"], ["-f", "HOME/whole.json"],
            ["-f", "HOME/damaged.json"], ["-f", "HOME/damaged.plist"], ["-f", "Missing"],
        ])
    func anEditorWithoutAChangeChangesNothing(words: [String]) throws {
        for home in try [Self.home(), HarnessHome()] {
            let before = try home.state()
            let words = words.map { $0.replacing("HOME", with: home.folder.path) }
            let printed = try home.process(["edit"] + words, ["EDITOR": "true"])
            #expect(printed.code == 0 || words.last?.contains("damaged") == true, "\(printed)")
            #expect(try home.state() == before)
        }
    }
}
