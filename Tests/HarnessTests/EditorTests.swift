import Foundation
import TestSupport
import Testing

/// `prefs edit` in a terminal: sends keys and checks the screen.
@Suite struct EditorTests {
    private typealias Keys = EditorSession.Keys

    private static let footer = "Enter edit  r reset  u unset  ? help  q quit"
    private static let table = [
        "  KEY               TYPE        STATE       VALUE",
        "> Integer Value     Int         default     10",
        "  String Value      String      default     Sample String",
        #"  Array Value       Array       default     ["One","Two","Three","Four","Five"]"#,
        #"  Dictionary Value  Dictionary  default     {"One":"First","Three":"Third","Two…"#,
        "  Date Value        Date        default     2001-01-01T00:00:00Z",
    ]
    private static let narrow = [
        "> Integer Value    Int        default",
        "    10",
        "  String Value     String     default",
        "    Sample String",
        "  Array Value      Array      default",
        #"    ["One","Two","Three","Four","Five"]"#,
        "  Dictionary Value Dictionary default",
        #"    {"One":"First","Three":"Third","Two…"#,
        "  Date Value       Date       default",
        "    2001-01-01T00:00:00Z",
        "Enter edit  r reset  ? help  q quit",
    ]

    /// The lines below the title. The title contains the path of the file.
    private func body(_ session: EditorSession) -> [String] { Array(session.terminal.screen.lines.dropFirst()) }

    @Test func theFormFillsTheTerminalAndFollowsItsSize() throws {
        let home = try HarnessHome()
        try home.prefs()
        let session = try EditorSession(in: home)
        #expect(session.terminal.screen.lines[0].hasPrefix("prefs edit  PrefsTestSet  /"))
        #expect(session.terminal.screen.lines[0].hasSuffix("/.config/persistentpreferences.harness.plist"))
        let wide = Self.table + Array(repeating: "", count: 16) + [Self.footer]
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
        ] {
            try session.type(key)
            try session.wait(row)
            #expect(session.terminal.screen.lines.count { $0.hasPrefix(">") } == 1)
        }
        try session.leave()
    }

    /// A person edits the file: a typo, its correction, and another typo. The form then stores a value over the second typo.
    @Test func aTypoInTheFileIsReported() throws {
        let home = try HarnessHome()
        let file = home.path("s.plist")
        try home.edit(file, "<integer>1</integer>")
        try home.prefs("set", "int", "2", "--file", file)
        let session = try EditorSession(in: home, arguments: ["--file", file])
        try home.edit(file, "<integer>3</integr>")
        try session.wait("line 6, column 11: expected </integer>, found </integr>")
        try home.edit(file, "<integer>4</integer>")
        try session.wait("the file can be read again")
        try session.wait(">*Integer Value     Int         set         4")
        try home.edit(file, "<integer>5</integr>")
        try session.wait("line 6, column 11: expected </integer>, found </integr>")
        #expect(try home.folder.names() == [".s.plist.lastgood", ".s.plist.lock", "s.plist"])
        try session.type(Keys.down, Keys.enter, "abc", Keys.enter)
        try session.wait("stored; the damaged file was quarantined beside it")
        try session.wait("> String Value      String      set         abc")
        try session.leave()
        #expect(try home.prefs("get", "int", "--file", file) == Printed("4\n"))
        #expect(try home.folder.names().contains { $0.hasPrefix("s.plist.corrupt-") })
    }

    @Test func editsEveryValue() throws {
        let home = try HarnessHome()
        try home.prefs("set", "string", "Sample")
        let session = try EditorSession(in: home)
        try session.type(Keys.enter, "-42", Keys.enter)
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
        try session.type(Keys.down, Keys.enter, #"["a, b","c"]"#, Keys.enter)
        try session.wait(#"> Array Value       Array       set         ["a, b","c"]"#)
        try session.type(Keys.down, Keys.enter, "k=v,w=x", Keys.enter)
        try session.wait(#"> Dictionary Value  Dictionary  set         {"k":"v","w":"x"}"#)
        try session.type(Keys.down, Keys.enter, "2026-11-21T08:30:00.5Z", Keys.enter)
        try session.wait("> Date Value        Date        set         2026-11-21T08:30:00.500Z")
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
        let session = try EditorSession(in: home, arguments: ["--file", file.path])
        try session.type(Keys.enter, "1x", Keys.enter)
        try session.wait(#"    expected a 64-bit integer such as 42 or -7, found "1x""#)
        try session.wait("> Integer Value     Int         rejected    1x")
        try session.type(Keys.backspace)
        try session.wait("> Integer Value     Int         rejected    1")
        // The store rejects it.
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try session.type(Keys.enter)
        try session.waitForNo("    expected a 64-bit integer")
        try session.wait("> Integer Value     Int         rejected    1")
        #expect(body(session)[2].hasPrefix("    ") && body(session)[2].contains("p.plist"))
        try FileManager.default.removeItem(at: file)
        try session.type(Keys.enter)
        try session.wait("> Integer Value     Int         set         1")
        try session.leave()
        #expect(try home.prefs("get", "int", "--file", file.path) == Printed("1\n"))
    }

    @Test func resetsAndUnsets() throws {
        let home = try HarnessHome()
        let session = try EditorSession(in: home)
        try session.wait("> Integer Value     Int         not set")
        try session.type("r")
        try session.wait("> Integer Value     Int         default     10")
        try session.type(Keys.end, "r")
        try session.wait("> Date Value        Date        default     2001-01-01T00:00:00Z")
        #expect(try home.prefs("get", "int") == Printed("10\n"))
        try session.type(Keys.home, "u")
        try session.wait("> Integer Value     Int         not set")
        try session.leave()
        #expect(try home.prefs("get", "int") == .failure("Integer Value is not set"))
        #expect(try home.prefs("get", "date") == Printed("2001-01-01T00:00:00Z\n"))
    }

    @Test func anyKeyClosesTheHelp() throws {
        let session = try EditorSession(in: HarnessHome(), columns: 40, rows: 12)
        try session.type("?")
        try session.wait("press any key to go back")
        #expect(session.terminal.screen.lines[8] == "q       quit, also Ctrl-C")
        try session.type("q")
        try session.wait("> Integer Value    Int        not set")
        try session.leave()
    }

    @Test func changesByOtherProcessesAppearAndAreMarked() throws {
        let home = try HarnessHome()
        try home.prefs()
        let session = try EditorSession(in: home)
        try home.prefs("set", "string", "theirs")
        try session.wait(" *String Value      String      set         theirs")
        #expect(session.terminal.screen.hasColours)
        try session.type(Keys.down)
        try session.wait("> String Value      String      set         theirs")
        // The same during an edit of the value.
        try session.type(Keys.enter, Keys.backspace, "r")
        try session.wait("> String Value      String      editing     theirr")
        try home.prefs("set", "string", "theirs too\n")
        try session.wait(#"    * now: theirs too\n"#)
        try session.wait(">*String Value      String      editing     theirr")
        try home.prefs("unset", "string")
        try session.wait("    * now: (not set)")
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
        let session = try EditorSession(in: home, arguments: ["--file", file.path], environment: ["NO_COLOR": "1"])
        try session.wait("> Integer Value     Int         string      10")
        try session.wait(#"  String Value      String      set         a\u{1b}[2Jb\n"#)
        // Pasted text is not interpreted as keys.
        try session.type(Keys.down, Keys.enter, "\u{1B}[200~q\r\u{1B}[201~", Keys.home, Keys.right, Keys.delete)
        try session.wait(#"> String Value      String      editing     a[2Jb\nq\n"#)
        try session.type(Keys.enter, Keys.home, Keys.enter, Keys.enter)
        try session.wait("> Integer Value     Int         default     10")
        try home.prefs("set", "int", "1", "--file", file.path)
        try session.wait(">*Integer Value     Int         set         1")
        #expect(!session.terminal.screen.hasColours)
        try session.leave()
        #expect(try home.prefs("get", "string", "--file", file.path) == Printed("a[2Jb\nq\n\n"))
    }
}
