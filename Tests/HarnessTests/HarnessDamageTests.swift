import Foundation
import Testing
import TestSupport

/// Files that are not property lists: the tool never changes a file that it has not written. A write quarantines a
/// damaged file with `--force` only.
@Suite(.waits) final class HarnessDamageTests: HarnessSuite {
    static let commands = [
        [], ["--json"], ["get", "int"], ["set", "int", "5"], ["unset", "int"], ["unset", "--all"],
        ["set", "int", "+1"],
        ["export"], ["import", "x.json"], ["import", "--dry-run", "x.json"],
    ]

    @Test(
        arguments: commands,
        [
            ("no property list", "is neither a binary nor an XML property list"),
            ("{a: 1}", "is text that begins with {, not a property list"),
            ("{ a = 1; }", "is text that begins with {, not a property list"),
            ("<plist><array/></plist>", "its top level is not a dictionary"),
        ])
    func aFileThatIsNotOursIsLeftAlone(command: [String], file: (text: String, reason: String)) throws {
        try home.write(Data(file.text.utf8), to: "x.plist")
        try home.write("{\"Integer Value\": 1}", to: "x.json")
        let path = home.path("x.plist")
        let before = try home.state()
        let words = command.map { $0 == "x.json" ? home.path($0) : $0 }
        let printed = try prefs(words, in: path)
        let message = "\(path): \(file.reason); the file is unchanged, because it may belong to another program"
        let isRead =
            command.isEmpty || ["--json", "get", "export"].contains(command[0]) || command.contains("--dry-run")
        if isRead {
            let json = Printed(errors: "{\"error\":\"\(message)\"}\n", code: 1)
            #expect(printed == (command == ["--json"] ? json : .failure(message)))
        } else {
            // With --force it is quarantined like a damaged file.
            #expect(printed.code == 1 && printed.errors.hasPrefix("prefs: \(path): \(file.reason); "), "\(printed)")
            #expect(printed.errors.hasSuffix("--force does it; nothing has changed\n"), "\(printed)")
        }
        #expect(try home.state() == before)
    }

    /// Prints the value of the last good copy, and exits with 1.
    @Test func aReadOfADamagedFilePrintsWhatIsKnown() throws {
        try prefs("set", "int", "42")
        let file = ".config/\(HarnessHome.suite).plist"
        try home.write(Data(contentsOf: home.suiteFile).dropLast(), to: file)
        let before = try home.state()
        for (command, output) in [
            (["get", "int"], "42\n"), (["get", "-f", HarnessHome.suite, "PrefsTestSet.Integer Value"], "42\n"),
            (["get", "--type", "-f", HarnessHome.suite, "PrefsTestSet.Integer Value"], "integer\n"),
            (["export"], "{\n  \"Integer Value\": 42\n}\n"),
        ] {
            let printed = try prefs(command)
            #expect(printed.output == output && printed.code == 1)
            #expect(printed.errors.hasPrefix("prefs: \(home.path(file)): "))
            #expect(printed.errors.contains("; the file is unchanged, and the last good copy of "))
        }
        #expect(try home.state() == before)
    }

    static let writes: [[String]] = [
        ["set", "-f", "FILE", "--root", "PrefsTestSet", "int", "5"],
        ["unset", "-f", "FILE", "--root", "PrefsTestSet", "int"],
        ["unset", "--all", "-f", "FILE", "--root", "PrefsTestSet"],
        ["set", "int", "+1", "-f", "FILE", "--root", "PrefsTestSet"],
        ["import", "-f", "FILE", "--root", "PrefsTestSet", "HOME/set.json"],
        ["import", "-f", "FILE", "--root", "PrefsTestSet", "HOME/set.json", "--replace"],
        ["import", "-f", "FILE", "HOME/domain.json"], ["set", "-f", "FILE", "R.k", "v"],
        ["unset", "-f", "FILE", "R.k"],
    ]

    /// A person has edited the file, and sees what to correct.
    @Test(arguments: writes, ["d.plist", "d.json"])
    func aTypoIsShownAndNothingIsWritten(words: [String], name: String) throws {
        let file = home.path(name)
        try home.claim(name)
        try prefs("set", "-f", file, "R.k", "1")
        try prefs("set", "-f", file, "--root", "PrefsTestSet", "int", "2")
        try home.write(#"{"Integer Value": 3}"#, to: "set.json")
        try home.write(#"{"R": {"k": "3"}}"#, to: "domain.json")
        let (typo, shown) =
            name == "d.json"
            ? (
                "{\n  \"R\": {\n    \"j\": 1,\n    \"k\": \"mine\",,\n  }\n}\n",
                "line 4, column 17: expected a key in quotes (at R); correct the line `\"k\": \"mine\",,`, or "
            )
            : (
                "<plist version=\"1.0\">\n<dict>\n<key>R</key>\n<dict><key>k</key><strin>mine</string></dict>\n</dict>\n</plist>\n",
                "correct the line `<dict><key>k</key><strin>mine</string></dict>`, or "
            )
        try home.write(typo, to: name)
        let state = try home.state()
        let words = words.map { $0.replacing("FILE", with: file).replacing("HOME", with: home.folder.path) }
        let printed = try prefs(words)
        #expect(
            printed.code == 1 && printed.output.isEmpty && printed.errors.hasPrefix("prefs: \(file): line 4, column "))
        #expect(printed.errors.contains(shown), "\(printed)")
        #expect(printed.errors.contains("--force quarantines the file and starts from the last good copy of "))
        #expect(printed.errors.hasSuffix("; nothing has changed\n"))
        #expect(try home.state() == state)
        _ = try prefs(words + ["--dry-run"])
        #expect(try home.state() == state)
        let forced = try prefs(words + ["--force"])
        #expect(forced.code == 0 && forced.errors.contains("; quarantined as \(file).corrupt-"), "\(forced)")
        #expect(forced.errors.contains("; the write started from the last good copy of "), "\(forced)")
    }

    @Test func theTypoOfAFileThatIsNotOursIsShown() throws {
        let file = try home.write("{\"a\": 1\n \"b\": 2}", to: "d.json").path
        let state = try home.state()
        for words in [["set", file, "a", "2"], ["set", "-f", file, "--root", "PrefsTestSet", "int", "5"]] {
            let printed = try prefs(words)
            #expect(printed.code == 1 && printed.errors.contains(#" in the line `"b": 2}`; "#), "\(printed)")
            #expect(printed.errors.hasPrefix("prefs: \(file): line 2, column 2: "))
        }
        #expect(try home.state() == state)
    }

    /// Nothing is known of the file, so no path is missing in it.
    @Test func theReasonOfAFileThatCannotBeReadComesFirst() throws {
        let file = try home.write("[1, 2]", to: "d.json").path
        for words in [["set", "-f", file, "a", "+1"], ["set", "-f", file, "a", "toggle"], ["cp", file, "a", "b"]] {
            let printed = try prefs(words)
            #expect(printed.code == 1 && printed.errors.contains("its top level is not a dictionary"), "\(printed)")
        }
    }

    /// A long line is shortened to the part around the column.
    @Test func aLongLineIsShortened() throws {
        let file = home.path("d.json")
        try home.claim("d.json")
        try prefs("set", file, "k", "1")
        let text = "{\"k\": \"" + String(repeating: "é", count: 500) + "\", \u{1B}x}"
        try home.write(text, to: "d.json")
        let printed = try prefs("set", "-f", file, "k", "2")
        let line = try #require(printed.errors.split(separator: "correct the line `").last?.split(separator: "`").first)
        #expect(line.hasPrefix("éé") && line.hasSuffix(#"", \u{1b}x}"#) && line.count < 100, "\(line)")
    }

    @Test func aTypoInJSONIsExplainedAndMended() throws {
        let path = home.path("x.json")
        try home.claim("x.json")
        try prefs("set", "-f", path, "R.k", "3", "-t", "integer")
        try home.write("{\n  \"R\": {\n    \"k\": 4,,\n  }\n}\n", to: "x.json")
        let reason = "line 3, column 12: expected a key in quotes (at R)"
        let report = try prefs("doctor", "-f", path)
        #expect(report.code == 1)
        #expect(
            report.output.contains(
                "the file is damaged: \(reason); correct line 3, or run the command, which quarantines"))
        let read = try prefs("get", "-f", path, "R.k")
        #expect(read.output == "3\n" && read.code == 1 && read.errors.contains(reason))
        let mended = try prefs("doctor", "-f", path, "--mend")
        #expect(mended.code == 0 && mended.output.contains("restored the last good copy"))
        #expect(try home.text("x.json") == "{\n  \"R\": {\n    \"k\": 3\n  }\n}\n")
    }
}
