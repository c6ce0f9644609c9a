import EngineSupport
import Foundation
import TestSupport
import Testing

/// `prefs edit -f WHERE`: files of other programs, other processes, and editors.
@Suite(.waits) final class EditFileTests: HarnessSuite {
    private func text(_ name: String = "s.json") throws -> String { try home.text(name) }

    private var path: String { home.path("s.json") }
    private static let unchanged = Printed(errors: "prefs: nothing has changed\n")

    /// A command line by which another process changes settings.
    private func other(_ words: String) throws -> String {
        "'\(try Child.executable("prefs").path(percentEncoded: false))' set \(words) || exit 9;"
    }

    private func other(_ key: String, _ value: String) throws -> String { try other("-f '\(path)' \(key) \(value)") }

    @Test func aJSONFileIsItsOwnText() throws {
        let before = "\u{FEFF}{\r\n\t// mine\r\n\t\"b\": 1.50,\r\n\t\"a\": [1,2,], /* x */\r\n\t\"n\": null\r\n}"
        try home.write(before, to: "s.json")
        let run = try EditRun(home, #"sed -i 's/mine/yours/; s/1,2/1, 3/' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try run.opened(1) == before)
        let after = before.replacing("mine", with: "yours").replacing("1,2", with: "1, 3")
        #expect(try text() == after)
        #expect(try prefs("undo", "-f", path).code == 0)
        #expect(try text() == before)
        #expect(try run.kept.isEmpty)
        #expect(try EditRun(home, "true")("-f", path) == Self.unchanged)
        // Some editors end the last line.
        #expect(try EditRun(home, #"echo >> "$1""#)("-f", path) == Self.unchanged)
        #expect(try text() == before)
    }

    @Test func aNewFileIsMade() throws {
        #expect(try EditRun(home, #"echo '{"k": 7}' > "$1""#)("-f", path) == Printed())
        #expect(try text() == "{\"k\": 7}\n")
        #expect(try EditRun(home, "true")("-f", home.path("none.json")) == Self.unchanged)
        #expect(try !home.folder.names().contains("none.json"))
    }

    @Test func aDryRunStoresNothing() throws {
        try home.write("{\"a\": 1}\n", to: "s.json")
        let run = try EditRun(home, try other("b", "2") + #"sed -i 's/1/3/' "$1""#)
        #expect(try run("-f", path, "--dry-run") == Printed("~ a: 1 → 3\n"))
        #expect(try prefs("show", "-f", path, "--json").output.filter { !$0.isWhitespace } == #"{"a":1,"b":2}"#)
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
        try home.write(before, to: "s.json")
        let run = try EditRun(home, #"sed -i 's/true/true,/' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try run.opened(1) == before.replacing("  \"size\"", with: "  // error: expected , or }\n  \"size\""))
        #expect(try text() == before.replacing("true", with: "true,"))
        #expect(try !home.folder.names().contains { $0.contains("corrupt") })
        #expect(try prefs("undo", "-f", path).code == 0)
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

    @Test(arguments: ["bplist00", "{\u{0}"]) func whatIsNoTextIsNotOpened(content: String) throws {
        try home.write(content, to: "s.json")
        let run = try EditRun(home, "true")
        let printed = try run("-f", path)
        #expect(try printed.code == 1 && printed.errors.contains("s.json") && run.count == 0)
        #expect(try printed == prefs("get", "-f", path, "a"))
        #expect(try text() == content)
    }

    /// A file that is read as a property list never becomes JSON.
    @Test func textInAPropertyListIsNotJSON() throws {
        try home.write("{\"a\": 1 \"b\": 2}\n", to: "s.plist")
        let run = try EditRun(home, #"echo '{"a": 1}' > "$1""#)
        for words in [[], ["--root", "PrefsTestSet"]] {
            let printed = try home.process(["edit", "-f", home.path("s.plist")] + words, run.environment)
            #expect(try printed.code == 1 && run.count == 0, "\(printed)")
        }
        #expect(try text("s.plist") == "{\"a\": 1 \"b\": 2}\n")
    }

    @Test func aPropertyListIsShownAsJSON() throws {
        // A keyed archive, with references.
        let xml = """
            <plist version="1.0"><dict><key>$objects</key><array><string>$null</string><string>Mono</string></array>
            <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict></dict>
            <key>when</key><date>2001-01-01T00:00:00Z</date></dict></plist>
            """
        let list = try PropertyListSerialization.propertyList(from: Data(xml.utf8), format: nil)
        let path = try home.write(list, to: "a.plist").path
        let before = try prefs("show", "-f", path).output
        var run = try EditRun(home, #"sed -i 's/"Mono"/"Sans"/' "$1""#)
        #expect(try run("-f", path) == Printed())
        let opened = try run.opened(1)
        #expect(opened.contains("\"when\": {\"$date\": \"2001-01-01T00:00:00Z\"}"), "\(opened)")
        #expect(opened.contains("\"CF$UID\": 1"))
        let after = try prefs("show", "-f", path).output
        #expect(after == before.replacing("Mono", with: "Sans") && after.contains("Sans"))
        #expect(try prefs("get", "-f", path, "$top.root", "--type") == Printed("keyed-archive reference\n"))
        // A rejected value.
        run = try EditRun(home, #"[ $n = 2 ] && sed -i 's/{"$date": .*}/[null]/' "$1"; true"#)
        let printed = try run("-f", path)
        let error = "\n  // error: when: null cannot be stored in a property list; leave it out\n  \"when\""
        #expect(try printed.code == 1 && run.opened(3).contains(error), "\(printed)")
    }

    @Test func everyNullInAPropertyListIsTold() throws {
        let path = try home.write(["a": 1, "b": 2, "c": 3], to: "a.plist").path
        let printed = try EditRun(home, #"sed -i 's/: [12]/: null/' "$1""#)("-f", path)
        let reasons = ["a", "b"].map { "\($0): null cannot be stored in a property list; leave it out" }
        #expect(printed.code == 1 && reasons.allSatisfy(printed.errors.contains), "\(printed)")
    }

    @Test(arguments: ["", nil]) func withoutAFolderOfItsOwnTheTextIsInTheUsualOne(folder: String?) throws {
        try home.write("{}", to: "s.json")
        let run = try EditRun(home, #"echo "$1" >"$HOME/place""#)
        let variables = run.environment.filter { $0.key != "TMPDIR" }.merging(folder.map { ["TMPDIR": $0] } ?? [:]) {
            $1
        }
        #expect(try home.process(["edit", "-f", path], variables) == Self.unchanged)
        #expect(try home.text("place").contains(/^\/tmp\/prefs-edit-[^\/]+\/settings\.json\n$/))
    }

    /// An XML property list is edited as its own text.
    @Test func anXMLListIsOpenedAsItsText() throws {
        let text = "<plist>\n<!-- mine -->\n<dict>\n  <key>a</key><true/>\n  <key>b</key>\n</dict>\n</plist>\n"
        let path = try home.write(text, to: "a.plist").path
        let comment = "  <!-- error: a key without a value -->\n"
        var run = try EditRun(home, "true")
        #expect(try run("-f", path) == .failure("\(path): line 5: a key without a value; nothing has changed"))
        #expect(try run.opened(1) == text.replacing("  <key>b", with: comment + "  <key>b"))
        run = try EditRun(home, #"sed -i 's/<key>b.*/<!-- b -->/' "$1""#)
        #expect(try run("-f", path) == Printed())
        let corrected = text.replacing("<key>b</key>", with: "<!-- b -->")
        #expect(try self.text("a.plist") == corrected)
        run = try EditRun(home, other("-f '\(path)' c true") + #"sed -i 's/true/false/' "$1""#)
        #expect(try run("-f", path) == Printed())
        let merged = corrected.replacing("true", with: "false")
            .replacing("\n  <!-- b", with: "\n  <key>c</key><true/>\n  <!-- b")
        #expect(try self.text("a.plist") == merged)
        #expect(try prefs("undo", "-f", path).code == 0)
        // What is not a dictionary.
        let printed = try EditRun(home, #"echo '<true/>' > "$1""#)("-f", path)
        #expect(printed.errors.contains("\(path): expected a <dict> at the top; nothing has changed"), "\(printed)")
    }

    // MARK: - Other processes

    @Test func whatAnotherProcessChangesStays() throws {
        try home.write("{\n  \"a\": {\"x\": 1, \"y\": 2},\n  \"b\": 1 // b\n}\n", to: "s.json")
        let run = try EditRun(
            home, try other("a.y", "3") + other("new", "true") + #"sed -i 's/"x": 1/"x": 5/; s|// b|// mine|' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try text() == "{\n  \"a\": {\"x\": 5, \"y\": 3},\n  \"b\": 1, // mine\n  \"new\": true\n}\n")
    }

    /// A comment is a change, too. Of two changed comments, none is thrown away.
    @Test func aCommentOfAnotherProgramStays() throws {
        try home.write("{\"a\": 1, // theirs\n \"b\": 2} // mine\n", to: "s.json")
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
        try home.write("{\"a\": 1}\n", to: "s.json")
        let run = try EditRun(home, "rm '\(path)'; " + #"sed -i 's/1/1, "c": 3/' "$1""#)
        #expect(try run("-f", path) == Printed())
        #expect(try text() == "{\"c\": 3}\n")
    }

    @Test func whatAnotherProcessChangesInAClassStays() throws {
        try prefs("set", "int=1", "string=s")
        let theirs = try other("string=theirs")
        let run = try EditRun(home, theirs + #"sed -i 's/"Integer Value": 1/"Integer Value": 2/' "$1""#)
        #expect(try run() == Printed())
        #expect(try prefs("get", "int", "string") == Printed("2\ntheirs\n"))
        // The same change is no conflict.
        let same = try EditRun(home, try other("int=8") + #"sed -i 's/"Integer Value": 2/"Integer Value": 8/' "$1""#)
        #expect(try same() == Printed())
    }

    @Test(arguments: ["s.json", "s.plist"]) func aConflictWithoutATerminalIsAnError(name: String) throws {
        let place = home.path(name)
        try prefs("set", "-f", place, "a", "1")
        let run = try EditRun(home, try other("-f '\(place)' a 2") + #"sed -i 's/"a": 1/"a": 3/' "$1""#)
        let printed = try run("-f", place)
        let message = "another process has changed `a`, too: yours 3, theirs 2; nothing has changed"
        #expect(try printed == .failure("\(message); your text is in \(run.keptText().path)"))
        #expect(try run.keptText().text.contains("\"a\": 3"))
        #expect(try prefs("get", "-f", place, "a") == Printed("2\n"))
    }

    #if os(Linux)
        @Test(arguments: [("m", 3), ("t", 2), ("?\nmine", 3)]) func aConflictIsAsked(answer: String, value: Int) throws
        {
            try home.write("{\"a\": 1, \"b\": 1}\n", to: "s.json")
            let run = try EditRun(home, try other("a", "2") + #"sed -i 's/"a": 1/"a": 3/; s/"b": 1/"b": 4/' "$1""#)
            let terminal = try run.onTerminal("-f", path)
            try terminal.wait(
                forText: "another process has changed `a`, too: yours 3, theirs 2. [m]ine, [t]heirs, or [e]dit again? ")
            try terminal.type(answer + "\n")
            #expect(try terminal.exitCode() == 0)
            #expect(try text() == "{\"a\": \(value), \"b\": 4}\n")
            #expect(try run.kept.isEmpty)
        }

        /// Each of two conflicts has an answer of its own.
        @Test(arguments: [("m", "t", 3, 2), ("t", "m", 2, 4), ("m", "m", 3, 4)])
        func eachConflictIsAsked(_ first: String, _ second: String, _ a: Int, _ b: Int) throws {
            try home.write("{\"a\": 1, \"b\": 1}\n", to: "s.json")
            let run = try EditRun(
                home, try other("-f '\(path)' a=2 b=2") + #"sed -i 's/"a": 1/"a": 3/; s/"b": 1/"b": 4/' "$1""#)
            let terminal = try run.onTerminal("-f", path)
            let question = "another process has changed"
            try terminal.wait(forText: "\(question) `a`, too: yours 3, theirs 2. [m]ine, [t]heirs, or [e]dit again? ")
            try terminal.type(first + "\n")
            try terminal.wait(forText: "\(question) `b`, too: yours 4, theirs 2. [m]ine, [t]heirs, or [e]dit again? ")
            try terminal.type(second + "\n")
            #expect(try terminal.exitCode() == 0)
            #expect(try text() == "{\"a\": \(a), \"b\": \(b)}\n")
            #expect(try run.kept.isEmpty)
        }

        @Test(arguments: ["s.json", "s.plist"]) func aConflictIsEditedAgain(name: String) throws {
            let place = home.path(name)
            try home.prefs("set", "-f", place, "a=1", "b=1", "c=1")
            let first = try other("-f '\(place)' a=2 c=2") + #"sed -i 's/"a": 1/"a": 3/; s/"b": 1/"b": 4/' "$1""#
            let run = try EditRun(home, #"if [ $n = 1 ]; then \#(first); else sed -i 's/"a": 3/"a": 5/' "$1"; fi"#)
            let terminal = try run.onTerminal("-f", place)
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

        /// What the other process has stored is what the person has seen then, so nothing is asked again.
        @Test func aConflictOfSettingsIsEditedAgain() throws {
            try home.prefs("set", "int=1", "string=b", "array=x")
            let first = try other("int=2 array=y") + #"sed -i 's/: 1,$/: 3,/; s/: "b"/: "c"/' "$1""#
            let run = try EditRun(home, #"if [ $n = 1 ]; then \#(first); else sed -i 's/: 3,/: 5,/' "$1"; fi"#)
            let terminal = try run.onTerminal()
            try terminal.wait(forText: "or [e]dit again? ")
            try terminal.type("e\n")
            #expect(try terminal.exitCode() == 0)
            #expect(try home.prefs("get", "int", "string", "array") == Printed("5\nc\n[\"y\"]\n"))
        }

        /// Also those about which the person has said something before.
        @Test(arguments: [["e"], ["m", "e"], ["t", "e"]]) func eachConflictIsNotedInTheText(answers: [String]) throws {
            try home.write("{\"a\": 1, \"b\": 1, \"c\": 1}\n", to: "s.json")
            let first = try other("-f '\(path)' a=2 b=6") + #"sed -i 's/"a": 1/"a": 3/; s/"b": 1/"b": 4/' "$1""#
            let run = try EditRun(home, #"if [ $n = 1 ]; then \#(first); else sed -i 's/"b": 4/"b": 5/' "$1"; fi"#)
            let terminal = try run.onTerminal("-f", path)
            for (name, answer) in zip(["a", "b"], answers) {
                try terminal.wait(forText: "another process has changed `\(name)`, too: ")
                try terminal.wait(forText: "or [e]dit again? ")
                try terminal.type(answer + "\n")
            }
            #expect(try terminal.exitCode() == 0)
            let again = try run.opened(2)
            for (name, value) in [("a", 2), ("b", 6)] {
                let remark = "// error: another process has changed `\(name)` to \(value)\n"
                #expect(again.contains(remark), "\(name) in \(again)")
            }
            #expect(try text() == "{\"a\": 3, \"b\": 5, \"c\": 1}\n")
        }

        @Test(
            arguments: [
                // The keys for signals are the editor's.
                (#"trap 'sed -i s/1/2/ "$1"; exit 0' INT; echo ready; read line; exit 9"#, nil, "\u{3}", 0, 2),
                // A shutdown tells the editor, which may have a text that is not saved, and `prefs` waits for it.
                (#"sed -i s/1/2/ "$1"; echo ready; read line; exit 0"#, SIGTERM, "\n", 0, 2),
                (#"sed -i s/1/2/ "$1"; echo ready; read line; exit 0"#, SIGHUP, "\n", 0, 2),
                ("echo ready; read line", nil, "\u{3}", 1, 1),
            ] as [(String, Int32?, String, Int32, Int)])
        func signalsBelongToTheEditor(script: String, signal: Int32?, keys: String, code: Int32, value: Int) throws {
            try home.write("{\"a\": 1}\n", to: "s.json")
            let run = try EditRun(home, script)
            let terminal = try run.onTerminal("-f", path)
            try terminal.wait(forText: "ready")
            if let signal { terminal.send(signal) }
            try terminal.type(keys)
            #expect(try terminal.exitCode() == code)
            #expect(try text() == "{\"a\": \(value)}\n" && run.kept.isEmpty)
        }

        /// An editor of windows ends at once, and its window saves the text afterwards.
        @Test func anEditorThatForksKeepsItsText() throws {
            try home.write("{\"a\": 1}\n", to: "s.json")
            #expect(mkfifo(home.path("save"), 0o600) == 0)
            let window = #"trap '' HUP; (read line < "$HOME/save"; sed -i s/1/2/ "$1")"#
            let script = window + " < /dev/null > /dev/null 2>&1 &"
            let run = try EditRun(home, script)
            let start = ContinuousClock.now
            let terminal = try run.onTerminal("-f", path)
            #expect(try terminal.exitCode() == 0)
            let isKnown = ContinuousClock.now - start < .seconds(1)
            let output = String(decoding: terminal.output, as: UTF8.self)
            // A machine that takes a second to start an editor cannot tell.
            guard isKnown || output.contains("at once") else { return }
            let (_, kept) = try run.keptText()
            let hint =
                "nothing has changed; the editor ended at once, so if it has opened a window, name it with its option "
                + "that waits, such as `code --wait`; the text is in \(kept)"
            #expect(output.contains(hint), "\(output)")
            let save = try FileHandle(forUpdating: home.folder.file("save"))
            try save.write(contentsOf: Data("now\n".utf8))
            let saved = Data("{\"a\": 2}\n".utf8)
            try expectEventually(Data(contentsOf: URL(filePath: kept)), is: saved)
        }
    #endif

    @Test func aHeldLockLosesNoText() throws {
        try home.claim("s.json")
        try prefs("set", "-f", path, "a", "1")
        let lock = try home.lock("s.json")
        defer { lock.release() }
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
        try home.write("{\"a\": 1}\n", to: "s.json")
        let run = try EditRun(
            home, #"echo "$# $1" > "$HOME/words"; stat -c %a "$2" "$(dirname "$2")" >> "$HOME/words"; true"#)
        let editor = "/bin/sh '\(home.path("my editor"))' 'two words'"
        _ = try run("-f", path, variables: ["VISUAL": "printf '%s' $((1 + 1)) > \"$HOME/sum\" && " + editor])
        #expect(try text("words") == "2 two words\n600\n700\n")
        #expect(try text("sum") == "2")
        // A variable that is empty or blank counts as unset.
        for blank in ["", "  "] { #expect(try run("-f", path, variables: ["VISUAL": blank]).code == 0) }
        let killed = try run("-f", path, variables: ["VISUAL": "kill -KILL $$ #"])
        #expect(killed == .failure("the editor ended with signal 9: kill -KILL $$ #; nothing has changed"))
    }
}
