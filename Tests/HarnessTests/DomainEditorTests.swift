import Foundation
import PrefsJSON
import Testing
import TestSupport

/// `prefs edit -f WHERE` in terminals of several sizes.
@Suite struct DomainEditorTests {
    private typealias Keys = EditorSession.Keys

    private static func file(in home: HarnessHome) throws -> String {
        let content: [String: Any] = [
            "Editor": ["fonts": ["Mono", "Sans"], "size": 12, "dark": true, "日本語\u{1B}[2J": "wide"] as [String: Any],
            "lastOpened": Date(timeIntervalSinceReferenceDate: 0),
        ]
        return try home.write(content, to: "settings.plist").path
    }

    @Test func aDomainIsEditedAsATree() throws {
        let home = try HarnessHome()
        let file = try Self.file(in: home)
        let session = try EditorSession(in: home, arguments: ["-f", file])
        #expect(session.terminal.screen.lines[0].hasPrefix("prefs edit  /"))
        try session.type(Keys.right, Keys.down, Keys.down, Keys.enter, Keys.down)
        try session.wait(">       [0]")
        #expect(
            Array(session.terminal.screen.lines[1...10]) == [
                "  KEY                  TYPE        VALUE",
                "  - Editor             dictionary  4 entries",
                "      dark             boolean     true",
                "    - fonts            array       2 elements",
                ">       [0]            string      Mono",
                "        [1]            string      Sans",
                "      size             integer     12",
                #"      日本語\u{1b}[2J  string      wide"#,
                "    lastOpened         date        2001-01-01T00:00:00Z",
                "",
            ])
        #expect(session.terminal.screen.lines[22] == "Editor.fonts[0]: string")
        #expect(
            session.terminal.screen.lines[23]
                == "Enter edit  a i add  r remove  t type  u undo  / search  ? help  q quit")
        // Adds an element, whose value is edited at once.
        try session.type("a", "s", Keys.enter, "Serif", Keys.enter)
        try session.wait(">       [2]            string      Serif")
        // Another process changes the array in the meantime.
        try home.prefs("set", "-f", file, "Editor.size", "13")
        try session.wait(" *    size             integer     13")
        try session.type("/", "dark", Keys.enter, Keys.enter, Keys.down, Keys.enter)
        try session.wait(">     dark             boolean     false")
        try session.type("t")
        try session.wait("> boolean")
        try session.type("i", Keys.enter)
        try session.wait(">     dark             integer     0")
        // The new element and its value are two changes.
        try session.type("u", "u", "u", "u")
        try session.waitForNo("        [2]")
        try session.type(Keys.home, "r")
        try session.wait(">   lastOpened")
        try session.type("u")
        try session.wait("> - Editor")
        try session.leave()
        let expected = #"{"dark":true,"fonts":["Mono","Sans"],"size":13,"日本語\u001b[2J":"wide"}"#
        let now = try home.prefs("get", "-f", file, "Editor", "--json").output
        let values = try JSONSerialization.jsonObject(with: Data(now.utf8)) as? NSDictionary
        #expect(values == (try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary))
    }

    @Test(arguments: [(80, 24), (200, 50), (40, 12)]) func theTreeFitsTheTerminal(columns: Int, rows: Int) throws {
        let home = try HarnessHome()
        let session = try EditorSession(
            in: home, columns: columns, rows: rows, arguments: ["-f", try Self.file(in: home)])
        for key in [Keys.enter, Keys.down, Keys.down, Keys.enter, Keys.down, Keys.pageDown, Keys.pageUp, Keys.end] {
            try session.type(key)
        }
        try session.wait(">   lastOpened")
        try session.type(Keys.enter, "x", Keys.enter)
        try session.wait("    expected a date such as")
        try session.type(Keys.escape)
        try session.waitForNo("    expected")
        try session.type("a", "new", Keys.enter, "d", Keys.end, Keys.enter)
        try session.wait("> + new")
        #expect(session.terminal.screen.lines.count { $0.hasPrefix(">") } == 1)
        try session.leave()
        #expect(try home.prefs("get", "-f", home.path("settings.plist"), "new") == Printed("{}\n"))
    }

    /// The correction is the only change of the file.
    @Test func aFileWithATypingErrorOpensAtItsLine() throws {
        let home = try HarnessHome()
        let text = "{\n  \"dark\": true\n  \"size\": 12\n}\n"
        try home.write(Data(text.utf8), to: "settings.json")
        let session = try EditorSession(in: home, columns: 60, rows: 14, arguments: ["-f", home.path("settings.json")])
        try session.wait("> 3")
        #expect(session.terminal.screen.lines[6] == #"      "size": 12"#, "\(session.terminal.screen.lines)")
        #expect(session.terminal.screen.lines[12].hasPrefix("line 3, column 3: "))
        try session.type(Keys.up, Keys.enter, ",", Keys.enter)
        try session.wait(">   dark")
        try session.leave()
        let corrected = text.replacing("true\n", with: "true,\n")
        #expect(try String(contentsOf: home.folder.file("settings.json"), encoding: .utf8) == corrected)
        #expect(try home.prefs("undo", "-f", home.path("settings.json")).code == 0)
        #expect(try String(contentsOf: home.folder.file("settings.json"), encoding: .utf8) == text)
    }

    @Test func aNewFileBeginsEmpty() throws {
        let home = try HarnessHome()
        let session = try EditorSession(in: home, arguments: ["-f", home.path("new.json")])
        try session.wait("  nothing is stored; a adds an entry")
        try session.type("a", "k", Keys.enter, "i", Keys.enter, Keys.erase, "7", Keys.enter)
        try session.wait(">   k")
        try session.waitForNo("  nothing is stored")
        try session.leave()
        #expect(try home.prefs("get", "-f", home.path("new.json"), "k") == Printed("7\n"))
    }
}
