import Foundation
import TestSupport
import Testing

/// `prefs edit DOMAIN` in terminals of several sizes.
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
        let session = try EditorSession(in: home, arguments: [file])
        #expect(session.terminal.screen.lines[0].hasPrefix("prefs edit  /"))
        try session.type(Keys.right, Keys.down, Keys.down, Keys.enter, Keys.down)
        try session.wait(">     [0]")
        #expect(
            Array(session.terminal.screen.lines[1...10]) == [
                "  KEY               TYPE        VALUE",
                "  - Editor          dictionary  4 entries",
                "      dark          boolean     true",
                "    - fonts         array       2 elements",
                ">       [0]         string      Mono",
                "        [1]         string      Sans",
                "      size          integer     12",
                "      日本語\\u{1b}… string      wide",
                "    lastOpened      date        2001-01-01T00:00:00Z",
                "",
            ])
        #expect(session.terminal.screen.lines[23] == "Enter edit  a i add  r remove  t type  u undo  / search  ? help  q quit")
        // Adds an element, whose value is edited at once.
        try session.type("a", "s", Keys.enter, "Serif", Keys.enter)
        try session.wait(">       [2]         string      Serif")
        // Another process changes the array meanwhile.
        try home.prefs("write", file, "Editor", "size", "-int", "13")
        try session.wait(" *    size          integer     13")
        try session.type("/", "dark", Keys.enter, Keys.enter, Keys.down, Keys.enter)
        try session.wait(">     dark          boolean     false")
        try session.type("t")
        try session.wait("> boolean")
        try session.type("i", Keys.enter)
        try session.wait(">     dark          integer     0")
        try session.type("u", "u", "u")
        try session.waitForNo("        [2]")
        try session.type(Keys.home, "r")
        try session.wait(">   lastOpened")
        try session.type("u")
        try session.wait("> - Editor")
        try session.leave()
        let expected = #"{"dark":true,"fonts":["Mono","Sans"],"size":13,"日本語\u001b[2J":"wide"}"#
        let now = try home.prefs("read", file, "Editor", "--json").output
        let values = try JSONSerialization.jsonObject(with: Data(now.utf8)) as? NSDictionary
        #expect(values == (try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary))
    }

    @Test(arguments: [(80, 24), (200, 50), (40, 12)]) func theTreeFitsTheTerminal(columns: Int, rows: Int) throws {
        let home = try HarnessHome()
        let session = try EditorSession(
            in: home, columns: columns, rows: rows, arguments: [try Self.file(in: home)])
        for key in [Keys.enter, Keys.down, Keys.down, Keys.enter, Keys.down, Keys.pageDown, Keys.pageUp, Keys.end] {
            try session.type(key)
        }
        try session.wait(">   lastOpened")
        try session.type(Keys.enter, "x", Keys.enter)
        try session.wait(#"    expected a date, found "2001"#)
        try session.type(Keys.escape)
        try session.waitForNo("    expected")
        try session.type("a", "new", Keys.enter, "d", Keys.end, Keys.enter)
        try session.wait("> + new")
        #expect(session.terminal.screen.lines.count { $0.hasPrefix(">") } == 1)
        try session.leave()
        #expect(try home.prefs("read", home.path("settings.plist"), "new") == Printed("{}\n"))
    }

    @Test func aNewDomainBeginsEmpty() throws {
        let home = try HarnessHome()
        let session = try EditorSession(in: home, arguments: [home.path("new.json")])
        try session.wait("  nothing is stored; a adds an entry")
        try session.type("a", "k", Keys.enter, "i", Keys.enter, Keys.erase, "7", Keys.enter)
        try session.wait(">   k")
        try session.waitForNo("  nothing is stored")
        try session.leave()
        #expect(try home.prefs("read", home.path("new.json"), "k") == Printed("7\n"))
    }
}
