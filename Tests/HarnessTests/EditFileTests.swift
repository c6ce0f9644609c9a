import Foundation
import PersistentPreferences
import PrefsJSON
import TestSupport
import Testing

@testable import PrefsTool

/// `prefs edit -f WHERE`: files of other programs, other processes, and editors.
@Suite struct EditFileTests {
    private let home: HarnessHome

    init() throws { home = try HarnessHome() }

    private func text(_ name: String = "s.json") throws -> String {
        String(decoding: try Data(contentsOf: home.folder.file(name)), as: UTF8.self)
    }

    private var path: String { home.path("s.json") }
    private static let unchanged = Printed(errors: "prefs: nothing has changed\n")
    /// A change by another process.
    private func other(_ key: String, _ value: String) throws -> String {
        "'\(try Child.executable("prefs").path(percentEncoded: false))' set -f '\(path)' \(key) \(value) || exit 9;"
    }

    @Test func aJSONFileIsItsOwnText() throws {
        let before = "\u{FEFF}{\r\n\t// mine\r\n\t\"b\": 1.50,\r\n\t\"a\": [1,2,], /* x */\r\n\t\"n\": null\r\n}"
        try home.write(Data(before.utf8), to: "s.json")
        let run = try EditRun(home, #"sed -i 's/mine/yours/; s/1,2/1, 3/' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try run.opened(1) == before)
        let after = before.replacing("mine", with: "yours").replacing("1,2", with: "1, 3")
        #expect(try text() == after)
        #expect(try home.prefs("undo", "-f", path).code == 0)
        #expect(try text() == before)
        #expect(try run.kept.isEmpty)
        #expect(try EditRun(home, "true")("-f", path) == Self.unchanged)
        #expect(try text() == before)
    }

    /// Some editors end the last line.
    @Test func aFinalNewlineIsNoChange() throws {
        try home.write(Data("{\"a\": 1}".utf8), to: "s.json")
        #expect(try EditRun(home, #"echo >> "$1""#)("-f", path) == Self.unchanged)
        #expect(try text() == "{\"a\": 1}")
    }

    @Test func aNewFileIsMade() throws {
        #expect(try EditRun(home, #"echo '{"k": 7}' > "$1""#)("-f", path) == Printed())
        #expect(try text() == "{\"k\": 7}\n")
        #expect(try EditRun(home, "true")("-f", home.path("none.json")) == Self.unchanged)
        #expect(try !home.folder.names().contains("none.json"))
    }

    @Test func aDryRunStoresNothing() throws {
        try home.write(Data("{\"a\": 1}\n".utf8), to: "s.json")
        let run = try EditRun(home, try other("b", "2") + #"sed -i 's/1/3/' "$1""#)
        #expect(try run("-f", path, "--dry-run") == Printed("~ a: 1 → 3\n"))
        #expect(try home.prefs("show", "-f", path, "--json").output.filter { !$0.isWhitespace } == #"{"a":1,"b":2}"#)
        #expect(try run.kept.isEmpty)
    }

    @Test func withoutAFolderForTheTextNothingIsOpened() throws {
        let run = try EditRun(home, "true")
        let printed = try run("-f", path, variables: ["TMPDIR": home.path("none")])
        #expect(printed == .failure("\(home.path("none")): cannot make a folder: No such file or directory"))
        #expect(try run.count == 0)
    }

    @Test func aTypoInAFileIsShownAboveItsLine() throws {
        let before = "{\n  \"dark\": true\n  \"size\": 12\n}\n"
        try home.write(Data(before.utf8), to: "s.json")
        let run = try EditRun(home, #"sed -i 's/true/true,/' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try run.opened(1) == before.replacing("  \"size\"", with: "  // error: expected , or }\n  \"size\""))
        #expect(try text() == before.replacing("true", with: "true,"))
        #expect(try !home.folder.names().contains { $0.contains("corrupt") })
        #expect(try home.prefs("undo", "-f", path).code == 0)
        #expect(try text() == before)
        // Leaving it as it is gives up.
        let printed = try EditRun(home, "true")("-f", path)
        #expect(printed == .failure("\(path): line 3: expected , or }; nothing has changed"))
        #expect(try text() == before && run.kept.isEmpty)
    }

    @Test(arguments: ["[1, 2]", "7", "{\"a\": 1} x"]) func anObjectIsExpected(content: String) throws {
        let run = try EditRun(
            home, "[ $n = 1 ] && printf '%s' '\(content)' > \"$1\"; [ $n = 2 ] && echo '{}' > \"$1\"; true")
        #expect(try run("-f", path).code == 0)
        #expect(try run.opened(2).hasPrefix("// error: "))
        #expect(try text() == "{}\n")
    }

    @Test(arguments: ["bplist00", "<?xml version=\"1.0\"?><plist><dict>", "{\u{0}"])
    func whatIsNoJSONTextIsNotOpened(content: String) throws {
        try home.write(Data(content.utf8), to: "s.json")
        let run = try EditRun(home, "true")
        let printed = try run("-f", path)
        #expect(try printed.code == 1 && printed.errors.contains("s.json") && run.count == 0)
        #expect(try printed == home.prefs("get", "-f", path, "a"))
        #expect(try text() == content)
    }

    /// A file that is read as a property list never becomes JSON.
    @Test func textInAPropertyListIsNotJSON() throws {
        try home.write(Data("{\"a\": 1 \"b\": 2}\n".utf8), to: "s.plist")
        let run = try EditRun(home, #"echo '{"a": 1}' > "$1""#)
        for words in [[], ["--root", "PrefsTestSet"]] {
            let printed = try home.process(["edit", "-f", home.path("s.plist")] + words, run.environment)
            #expect(try printed.code == 1 && run.count == 0, "\(printed)")
        }
        #expect(try text("s.plist") == "{\"a\": 1 \"b\": 2}\n")
    }

    @Test func aPropertyListIsShownAsJSON() throws {
        let archive = try KeyedArchive.bytes
        try home.write(archive, to: "a.plist")
        let before = try home.prefs("show", "-f", home.path("a.plist")).output
        var run = try EditRun(home, #"sed -i 's/"Mono"/"Sans"/' "$1""#)
        #expect(try run("-f", home.path("a.plist")) == Printed())
        let opened = try run.opened(1)
        #expect(opened.contains("\"when\": {\"$date\": \"2001-01-01T00:00:00Z\"}"), "\(opened)")
        #expect(opened.contains("\"CF$UID\": 1"))
        let after = try home.prefs("show", "-f", home.path("a.plist")).output
        #expect(after == before.replacing("Mono", with: "Sans") && after.contains("Sans"))
        #expect(
            try home.prefs("get", "-f", home.path("a.plist"), "$top.root", "--type")
                == Printed("keyed-archive reference\n"))
        // A rejected value.
        run = try EditRun(home, #"[ $n = 2 ] && sed -i 's/{"$date": .*}/[null]/' "$1"; true"#)
        let printed = try run("-f", home.path("a.plist"))
        #expect(
            try run.opened(3).contains(
                "\n  // error: when: null cannot be stored in a property list; leave it out\n  \"when\""))
        #expect(printed.code == 1, "\(printed)")
    }

    // MARK: - Other processes

    @Test func whatAnotherProcessChangesStays() throws {
        try home.write(Data("{\n  \"a\": {\"x\": 1, \"y\": 2},\n  \"b\": 1 // b\n}\n".utf8), to: "s.json")
        let run = try EditRun(
            home, try other("a.y", "3") + other("new", "true") + #"sed -i 's/"x": 1/"x": 5/; s|// b|// mine|' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try text() == "{\n  \"a\": {\"x\": 5, \"y\": 3},\n  \"b\": 1, // mine\n  \"new\": true\n}\n")
    }

    /// A comment is a change, too. Of two changed comments, none is thrown away.
    @Test func aCommentOfAnotherProgramStays() throws {
        try home.write(Data("{\"a\": 1, // theirs\n \"b\": 2} // mine\n".utf8), to: "s.json")
        let theirs = "sed -i 's/theirs/new/' '\(path)'; "
        #expect(try EditRun(home, theirs + #"sed -i 's/1/10/' "$1""#)("-f", path) == Printed())
        #expect(try text() == "{\"a\": 10, // new\n \"b\": 2} // mine\n")
        let run = try EditRun(home, "sed -i 's/new/newer/' '\(path)'; " + #"sed -i 's/mine/my own/; s/10/11/' "$1""#)
        let printed = try run("-f", path)
        let message = "another process has changed more than values in \(path), and so have you; nothing has changed"
        #expect(try printed == .failure("\(message); your text is in \(run.keptText().path)"))
        #expect(try text() == "{\"a\": 10, // newer\n \"b\": 2} // mine\n")
    }

    /// The file is made by another process while the person edits the text of a new one.
    @Test func aFileThatAppearsMeanwhileStays() throws {
        let run = try EditRun(home, try other("b", "2") + #"echo '{"a": 1}' > "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try text() == "{\"a\": 1, \"b\": 2}\n")
        let broken = try EditRun(home, "echo '{' > '\(path)'; " + #"sed -i 's/1/3/' "$1""#)
        let printed = try broken("-f", path)
        #expect(
            printed.code == 1 && printed.errors.contains("s.json has changed in the meantime and cannot be merged: "))
        #expect(try text() == "{\n" && broken.keptText().text == "{\"a\": 3, \"b\": 2}\n")
    }

    /// What another process has removed with the file stays removed.
    @Test func aFileThatIsRemovedMeanwhileIsMadeAgain() throws {
        try home.write(Data("{\"a\": 1}\n".utf8), to: "s.json")
        let run = try EditRun(home, "rm '\(path)'; " + #"sed -i 's/1/1, "c": 3/' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try text() == "{\"c\": 3}\n")
    }

    @Test func whatAnotherProcessChangesInAClassStays() throws {
        try home.prefs("set", "int=1", "string=s")
        let set = "'\(try Child.executable("prefs").path(percentEncoded: false))' set"
        let run = try EditRun(home, #"\#(set) string=theirs; sed -i 's/"Integer Value": 1/"Integer Value": 2/' "$1""#)
        #expect(try run() == Printed())
        #expect(try home.prefs("get", "int") == Printed("2\n"))
        #expect(try home.prefs("get", "string") == Printed("theirs\n"))
        // The same change is no conflict.
        let same = try EditRun(home, #"\#(set) int=8; sed -i 's/"Integer Value": 2/"Integer Value": 8/' "$1""#)
        #expect(try same() == Printed())
    }

    @Test(arguments: ["s.json", "s.plist"]) func aConflictWithoutATerminalIsAnError(name: String) throws {
        let place = home.path(name)
        try home.prefs("set", "-f", place, "a", "1")
        let set = "'\(try Child.executable("prefs").path(percentEncoded: false))' set -f '\(place)' a 2;"
        let run = try EditRun(home, set + #"sed -i 's/"a": 1/"a": 3/' "$1""#)
        let printed = try run("-f", place)
        #expect(
            printed
                == .failure(
                    "another process has changed `a`, too: yours 3, theirs 2; nothing has changed; your text is in \(try run.keptText().path)"
                ))
        #expect(try run.keptText().text.contains("\"a\": 3"))
        #expect(try home.prefs("get", "-f", place, "a") == Printed("2\n"))
    }

    #if os(Linux)
        @Test(arguments: [("m", 3), ("t", 2), ("?\nmine", 3)]) func aConflictIsAsked(answer: String, value: Int) throws
        {
            try home.write(Data("{\"a\": 1, \"b\": 1}\n".utf8), to: "s.json")
            let run = try EditRun(home, try other("a", "2") + #"sed -i 's/"a": 1/"a": 3/; s/"b": 1/"b": 4/' "$1""#)
            let terminal = try PseudoTerminal(
                Child.executable("prefs"), ["edit", "-f", path], environment: run.environment, columns: 80, rows: 24)
            try terminal.wait(
                forText: "another process has changed `a`, too: yours 3, theirs 2. [m]ine, [t]heirs, or [e]dit again? ")
            try terminal.type(answer + "\n")
            #expect(try terminal.exitCode() == 0)
            #expect(try text() == "{\"a\": \(value), \"b\": 4}\n")
            #expect(try run.kept.isEmpty)
        }

        @Test(arguments: ["s.json", "s.plist"]) func aConflictIsEditedAgain(name: String) throws {
            let place = home.path(name)
            try home.prefs("set", "-f", place, "a=1", "b=1", "c=1")
            let set = "'\(try Child.executable("prefs").path(percentEncoded: false))' set -f '\(place)' a=2 c=2;"
            let run = try EditRun(
                home,
                "if [ $n = 1 ]; then \(set) sed -i 's/\"a\": 1/\"a\": 3/; s/\"b\": 1/\"b\": 4/' \"$1\";"
                    + " else sed -i 's/\"a\": 3/\"a\": 5/' \"$1\"; fi")
            let terminal = try PseudoTerminal(
                Child.executable("prefs"), ["edit", "-f", place], environment: run.environment, columns: 80, rows: 24)
            try terminal.wait(forText: "or [e]dit again? ")
            try terminal.type("e\n")
            #expect(try terminal.exitCode() == 0)
            let again = try run.opened(2)
            #expect(again.contains("// error: another process has changed `a` to 2\n  \"a\": 3"), "\(again)")
            #expect(again.contains("\"b\": 4") && again.contains("\"c\": 2"))
            #expect(
                try home.prefs("show", "-f", place, "--json").output.filter { !$0.isWhitespace }
                    == #"{"a":5,"b":4,"c":2}"#)
            #expect(try run.kept.isEmpty)
        }

        /// The keys for signals are the editor's.
        @Test func controlCBelongsToTheEditor() throws {
            try home.write(Data("{\"a\": 1}\n".utf8), to: "s.json")
            let run = try EditRun(
                home, #"trap 'sed -i s/1/2/ "$1"; exit 0' INT; echo ready; read line; exit 9"#)
            let terminal = try PseudoTerminal(
                Child.executable("prefs"), ["edit", "-f", path], environment: run.environment, columns: 80, rows: 24)
            try terminal.wait(forText: "ready")
            try terminal.type("\u{3}")
            #expect(try terminal.exitCode() == 0)
            #expect(try text() == "{\"a\": 2}\n")
        }

        /// A shutdown tells the editor, which may have a text that is not saved, and `prefs` waits for it.
        @Test(arguments: [SIGTERM, SIGHUP]) func aSignalThatEndsProgramsLeavesNoEditorAlone(signal: Int32) throws {
            try home.write(Data("{\"a\": 1}\n".utf8), to: "s.json")
            let run = try EditRun(home, #"sed -i s/1/2/ "$1"; echo ready; read line; exit 0"#)
            let terminal = try PseudoTerminal(
                Child.executable("prefs"), ["edit", "-f", path], environment: run.environment, columns: 80, rows: 24)
            try terminal.wait(forText: "ready")
            terminal.send(signal)
            try terminal.type("\n")
            #expect(try terminal.exitCode() == 0)
            #expect(try text() == "{\"a\": 2}\n" && run.kept.isEmpty)
        }

        @Test func anEditorThatControlCEndsChangesNothing() throws {
            try home.write(Data("{\"a\": 1}\n".utf8), to: "s.json")
            let run = try EditRun(home, "echo ready; read line")
            let terminal = try PseudoTerminal(
                Child.executable("prefs"), ["edit", "-f", path], environment: run.environment, columns: 80, rows: 24)
            try terminal.wait(forText: "ready")
            try terminal.type("\u{3}")
            #expect(try terminal.exitCode() == 1)
            #expect(try text() == "{\"a\": 1}\n" && run.kept.isEmpty)
        }
    #endif

    @Test func aHeldLockLosesNoText() throws {
        try home.claim("s.json")
        try home.prefs("set", "-f", path, "a", "1")
        let lock = open(home.path(".s.json.lock"), O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        let run = try EditRun(home, #"sed -i 's/1/2/' "$1""#)
        let printed = try run("-f", path, "--timeout", "0")
        let (text, kept) = try run.keptText()
        let others = try home.process(["set", "-f", path, "a", "3", "--timeout", "0"])
        #expect(printed.errors == others.errors.dropLast() + "; your text is in \(kept)\n", "\(printed) \(others)")
        #expect(printed.code == 1 && text.contains("\"a\": 2"))
        #expect(try self.text().contains("\"a\": 1"))
    }

    // MARK: - Editors

    @Test func theEditorIsACommandOfTheShell() throws {
        try home.write(Data("{\"a\": 1}\n".utf8), to: "s.json")
        let run = try EditRun(
            home, #"echo "$# $1" > "$HOME/words"; stat -c %a "$2" "$(dirname "$2")" >> "$HOME/words"; true"#)
        let editor = "'\(home.path("my editor"))' 'two words'"
        _ = try run("-f", path, variables: ["VISUAL": "printf '%s' $((1 + 1)) > \"$HOME/sum\" && " + editor])
        #expect(try text("words") == "2 two words\n600\n700\n")
        #expect(try text("sum") == "2")
        // A variable that is empty or blank counts as unset.
        for blank in ["", "  "] { #expect(try run("-f", path, variables: ["VISUAL": blank]).code == 0) }
        let killed = try run("-f", path, variables: ["VISUAL": "kill -KILL $$ #"])
        #expect(killed == .failure("the editor ended with signal 9: kill -KILL $$ #; nothing has changed"))
        let printed = try run("-f", path, variables: ["VISUAL": "prefs-no-such-editor"])
        #expect(printed.code == 1)
        #expect(
            printed.errors.hasSuffix(
                "prefs: the editor ended with exit code 127: prefs-no-such-editor; nothing has changed\n"))
    }

    @Test func editWithoutATerminalNeedsAnEditor() throws {
        let message =
            "`edit` needs a terminal, or an editor in VISUAL or EDITOR that needs none; use `prefs set`"
        #expect(try home.process(["edit"]) == .usageError(message))
        #expect(try home.process(["edit", "-f", "s.json"]) == .usageError(message))
        #expect(try home.folder.names().isEmpty)
    }
}

/// A keyed archive, with references.
private enum KeyedArchive {
    static var bytes: Data {
        get throws {
            let xml = """
                <plist version="1.0"><dict><key>$objects</key><array><string>$null</string><string>Mono</string></array>
                <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict></dict>
                <key>when</key><date>2001-01-01T00:00:00Z</date></dict></plist>
                """
            let list = try PropertyListSerialization.propertyList(from: Data(xml.utf8), format: nil)
            return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        }
    }
}
