import Foundation
import TestSupport
import Testing

/// `prefs edit` in a terminal: sends keys and checks the screen.
@Suite struct EditorTests {
    private typealias Keys = EditorSession.Keys

    private static let note = "int: Int, default 0; A whole number."
    private static let footer = "Enter edit  Space toggle  r reset  u undo  / search  ? help  q quit"
    private static let table = [
        "  KEY               TYPE        STATE       VALUE",
        "> Integer Value     Int         set         10",
        "  String Value      String      set         Sample String",
        #"  Array Value       [String]    set         ["One","Two","Three","Four","Five"]"#,
        #"  Dictionary Value  [String: …  set         {"One":"First","Three":"Third","Two…"#,
        "  Date Value        Date        set         2001-01-01T00:00:00Z",
    ]
    private static let narrow = [
        "> Integer Value    Int        set",
        "    10",
        "  String Value     String     set",
        "    Sample String",
        "  Array Value      [String]   set",
        #"    ["One","Two","Three","Four","Five"]"#,
        "  Dictionary Value [String: … set",
        #"    {"One":"First","Three":"Third","Two…"#,
        "  Date Value       Date       set",
        note,
        "Enter edit  u undo  ? help  q quit",
    ]

    /// The lines below the title. The title contains the path of the file.
    private func body(_ session: EditorSession) -> [String] { Array(session.terminal.screen.lines.dropFirst()) }

    @Test func theFormFillsTheTerminalAndFollowsItsSize() throws {
        let home = try HarnessHome()
        let session = try EditorSession(in: home)
        #expect(session.terminal.screen.lines[0].hasPrefix("prefs edit  PrefsTestSet  /"))
        #expect(session.terminal.screen.lines[0].hasSuffix("/.config/persistentpreferences.harness.plist"))
        let wide = Self.table + Array(repeating: "", count: 15) + [Self.note, Self.footer]
        #expect(body(session) == wide)
        #expect(!session.terminal.screen.showsCursor)
        session.terminal.resize(columns: 40, rows: 12)
        try session.terminal.wait(for: "two lines a value") { Array($0.lines.dropFirst()) == Self.narrow }
        session.terminal.resize(columns: 39, rows: 12)
        try session.terminal.wait(for: "nothing but a message") {
            $0.lines == ["prefs edit needs 40 x 12; Ctrl-C quits"] + Array(repeating: "", count: 11)
        }
        // Keys have no effect while the form is hidden, except the last one, which redraws.
        let erasures = session.terminal.screen.erasures
        try session.type("q", "u", Keys.down, Keys.redraw)
        try session.terminal.wait(for: "the same again") { $0.erasures > erasures && $0.lines[0] != "" }
        session.terminal.resize(columns: 80, rows: 24)
        try session.terminal.wait(for: "the table again") { Array($0.lines.dropFirst()) == wide }
        try session.leave()
    }

    @Test func keysMoveTheSelection() throws {
        let session = try EditorSession(in: HarnessHome(), columns: 40, rows: 12)
        for (key, row) in [
            (Keys.down, "> String"), (Keys.tab, "> Array"), (Keys.up, "> String"), (Keys.backTab, "> Integer"),
            (Keys.up, "> Date"), (Keys.tab, "> Integer"), (Keys.end, "> Date"), (Keys.home, "> Integer"),
            (Keys.pageDown, "> Date"), (Keys.pageUp, "> Integer"),
        ] {
            try session.type(key)
            try session.wait(row)
            #expect(session.terminal.screen.lines.count { $0.hasPrefix(">") } == 1)
        }
        try session.leave()
    }

    /// A person edits the file: a typo, its correction, and another typo, which is corrected in the form.
    @Test func aTypoInTheFileIsReported() throws {
        let home = try HarnessHome()
        let file = home.path("s.plist")
        try home.edit(file, "<integer>1</integer>")
        try home.prefs("set", "int", "2", "-f", file, "--root", "PrefsTestSet")
        let session = try EditorSession(in: home, arguments: ["-f", file, "--root", "PrefsTestSet"])
        try home.edit(file, "<integer>3</integr>")
        try session.wait("> 6    line        set         <integer>3</integr>")
        try session.wait("line 6, column 11: expected </integer>, found </integr>")
        try home.edit(file, "<integer>4</integer>")
        try session.wait("the file can be read again")
        try session.wait(">*Integer Value     Int         set         4")
        try home.edit(file, "<integer>5</integr>")
        try session.wait("> 6    line        set         <integer>5</integr>")
        #expect(
            try home.folder.names().filter { $0.contains("s.plist") } == [
                ".s.plist.lastgood", ".s.plist.lock", "s.plist",
            ])
        try session.type(Keys.enter, Keys.backspace, Keys.backspace, "er>", Keys.enter)
        try session.wait("stored; the damaged file was quarantined beside it")
        try session.wait(">*Integer Value     Int         set         5")
        try session.leave()
        let bytes = try Data(contentsOf: URL(filePath: file))
        try home.edit(home.path("corrected.plist"), "<integer>5</integer>")
        #expect(try bytes == Data(contentsOf: home.folder.file("corrected.plist")))
        #expect(try home.prefs("get", "int", "-f", file, "--root", "PrefsTestSet") == Printed("5\n"))
        #expect(try home.folder.names().contains { $0.hasPrefix("s.plist.corrupt-") })
    }

    @Test func editsEveryValue() throws {
        let home = try HarnessHome()
        try home.prefs("set", "string", "Sample")
        let session = try EditorSession(in: home)
        try session.type(Keys.enter, Keys.erase, "-42", Keys.enter)
        try session.wait("> Integer Value     Int         set         -42")
        // Edits within the text: "Sample" → "Ample 日本é".
        try session.type(Keys.down, Keys.enter, Keys.home, Keys.delete, Keys.delete, "A", Keys.end, " 日x本e\u{301}")
        try session.wait("> String Value      String      editing     Ample 日x本e\u{301}")
        try session.type(Keys.left, Keys.left, Keys.backspace)
        try session.wait("> String Value      String      editing     Ample 日本e\u{301}")
        #expect(session.terminal.screen.showsCursor)
        #expect((session.terminal.screen.row, session.terminal.screen.column) == (3, 44 + 8))
        try session.type(Keys.enter)
        try session.wait("> String Value      String      set         Ample 日本e\u{301}")
        try session.type(Keys.down, Keys.enter, Keys.erase, #"["a, b","c"]"#, Keys.enter)
        try session.wait(#"> Array Value       [String]    set         ["a, b","c"]"#)
        try session.type(Keys.down, Keys.enter, Keys.erase, #"{"k":"v","w":"x"}"#, Keys.enter)
        try session.wait(#"> Dictionary Value  [String: …  set         {"k":"v","w":"x"}"#)
        try session.type(Keys.down, Keys.enter, Keys.erase, "2026-11-21T08:30:00.5Z", Keys.enter)
        try session.wait("> Date Value        Date        set         2026-11-21T08:30:00.5Z")
        try session.leave()
        for (key, value) in [
            ("int", "-42"), ("string", "Ample 日本e\u{301}"), ("array", #"["a, b","c"]"#),
            ("dictionary", #"{"k":"v","w":"x"}"#), ("date", "2026-11-21T08:30:00.500Z"),
        ] {
            #expect(try home.prefs("get", key) == Printed(value + "\n"))
        }
    }

    @Test func escapeCancelsTheEdit() throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "7")
        let session = try EditorSession(in: home)
        try session.type(Keys.enter, "7")
        try session.wait("> Integer Value     Int         editing     77")
        try session.type(Keys.escape)
        try session.wait("> Integer Value     Int         set         7")
        #expect(!session.terminal.screen.showsCursor)
        try session.leave()
        #expect(try home.prefs("get", "int") == Printed("7\n"))
    }

    @Test func aRejectedTextStaysInTheForm() throws {
        let home = try HarnessHome()
        let file = home.folder.file("p.plist")
        let session = try EditorSession(in: home, arguments: ["-f", file.path, "--root", "PrefsTestSet"])
        try session.type(Keys.enter, "1x", Keys.enter)
        try session.wait(#"    Integer Value: expected Int, found "01x""#)
        try session.wait("> Integer Value     Int         rejected    01x")
        try session.type(Keys.home, Keys.delete, Keys.end, Keys.backspace)
        try session.wait("> Integer Value     Int         rejected    1")
        // The store rejects it.
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try session.type(Keys.enter)
        try session.waitForNo("    Integer Value: expected Int")
        try session.wait("> Integer Value     Int         rejected    1")
        #expect(body(session)[2].hasPrefix("    ") && body(session)[2].contains("p.plist"))
        try FileManager.default.removeItem(at: file)
        try session.type(Keys.enter)
        try session.wait("> Integer Value     Int         set         1")
        try session.leave()
        #expect(try home.prefs("get", "int", "-f", file.path, "--root", "PrefsTestSet") == Printed("1\n"))
    }

    @Test func resetsAndUndoes() throws {
        let home = try HarnessHome()
        let file = home.path("p.plist")
        try home.prefs("set", "int", "7", "-f", file, "--root", "PrefsTestSet")
        let session = try EditorSession(in: home, arguments: ["-f", file, "--root", "PrefsTestSet"])
        try session.wait("> Integer Value     Int         set         7")
        try session.type("r")
        try session.wait("> Integer Value     Int         default     0")
        try session.type("r")
        try session.wait("nothing is stored")
        #expect(try home.prefs("get", "int", "--stored", "-f", file, "--root", "PrefsTestSet").code == 1)
        try session.type(Keys.down, Keys.enter, "text", Keys.enter)
        try session.wait("> String Value      String      set         text")
        try session.type("u")
        try session.wait("> String Value      String      default")
        try session.type("u")
        try session.wait("> Integer Value     Int         set         7")
        try session.type("u")
        try session.wait("there is nothing to undo")
        // Another process changes the value before it is undone.
        try session.type(Keys.enter, "8", Keys.enter)
        try session.wait("> Integer Value     Int         set         78")
        try home.prefs("set", "int", "9", "-f", file, "--root", "PrefsTestSet")
        try session.wait(">*Integer Value     Int         set         9")
        try session.type("u")
        try session.wait("another program has changed `Integer Value` since; it is not undone")
        try session.leave()
        #expect(try home.prefs("get", "int", "-f", file, "--root", "PrefsTestSet") == Printed("9\n"))
    }

    @Test func searches() throws {
        let session = try EditorSession(in: HarnessHome())
        try session.type("/", "dic")
        try session.wait("> Dictionary")
        #expect(session.terminal.screen.showsCursor && session.terminal.screen.lines[23] == "/dic")
        try session.type("x")
        try session.wait("/dicx")
        #expect(session.terminal.screen.lines[23].hasSuffix("(no match)"))
        try session.type(Keys.erase, "value", Keys.enter, "n", "n")
        try session.wait("> Array")
        try session.type("N")
        try session.wait("> String")
        try session.leave()
    }

    @Test func anyKeyClosesTheHelp() throws {
        let session = try EditorSession(in: HarnessHome())
        try session.type("?")
        try session.wait("press any key to go on")
        let lines = session.terminal.screen.lines
        #expect(
            lines.contains("u       undo your last change") && lines.contains("r Del   reset: store nothing, so that"))
        try session.type("q")
        try session.wait("> Integer Value     Int         set")
        try session.leave()
    }

    @Test func changesByOtherProcessesAppearAndAreMarked() throws {
        let home = try HarnessHome()
        let session = try EditorSession(in: home)
        try home.prefs("set", "string", "theirs")
        try session.wait(" *String Value      String      set         theirs")
        #expect(session.terminal.screen.hasColours)
        try session.type(Keys.down)
        try session.wait("> String Value      String      set         theirs")
        // Changes by other processes also appear during an edit of the value.
        try session.type(Keys.enter, Keys.backspace, "r")
        try session.wait("> String Value      String      editing     theirr")
        try home.prefs("set", "string", "theirs too\n")
        try session.wait(#"    * now: theirs too\n"#)
        try session.wait(">*String Value      String      editing     theirr")
        try home.prefs("unset", "string")
        try session.wait("    * now:")
        try session.terminal.wait(for: "the default") { $0.lines.contains("    * now:") }
        try session.type("!", Keys.enter)
        try session.wait("> String Value      String      set         theirr!")
        try session.waitForNo("    * now")
        try session.leave()
        #expect(try home.prefs("get", "string") == Printed("theirr!\n"))
    }

    @Test func showsControlCharactersAndOtherTypes() throws {
        let home = try HarnessHome()
        let file = try home.write(
            ["PrefsTestSet": ["Integer Value": "10", "String Value": "a\u{1B}[2Jb\n"]], to: "p.plist")
        let session = try EditorSession(
            in: home, arguments: ["-f", file.path, "--root", "PrefsTestSet"], environment: ["NO_COLOR": "1"])
        try session.wait("> Integer Value     Int         string      10")
        try session.wait(#"  String Value      String      set         a\u{1b}[2Jb\n"#)
        // Pasted text is not interpreted as keys.
        try session.type(Keys.down, Keys.enter, "\u{1B}[200~q\r\u{1B}[201~", Keys.home, Keys.right, Keys.delete)
        try session.wait(#"> String Value      String      editing     a[2Jb\nq\n"#)
        try session.type(Keys.enter, Keys.home, Keys.enter, Keys.enter)
        try session.wait("u cannot restore the old `Integer Value`; go on? (y/n)")
        try session.type("y")
        try session.wait("> Integer Value     Int         set         10")
        try home.prefs("set", "int", "1", "-f", file.path, "--root", "PrefsTestSet")
        try session.wait(">*Integer Value     Int         set         1")
        #expect(!session.terminal.screen.hasColours)
        try session.leave()
        #expect(try home.prefs("get", "string", "-f", file.path, "--root", "PrefsTestSet") == Printed("a[2Jb\nq\n\n"))
    }
}
