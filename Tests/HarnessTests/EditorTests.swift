import Foundation
import TestSupport
import Testing

/// `prefs edit` in a terminal: keys in, screen out.
@Suite struct EditorTests {
    private typealias Keys = EditorSession.Keys

    @Test func first() throws {
        let home = try HarnessHome()
        try home.prefs("reset")
        let session = try EditorSession(in: home)
        print(session.terminal.screen.lines.map { "|" + $0 }.joined(separator: "\n"))
        session.terminal.resize(columns: 40, rows: 12)
        try session.wait(">")
        try session.terminal.wait(for: "x") { $0.lines.contains("    Sample String") }
        print(session.terminal.screen.lines.map { "|" + $0 }.joined(separator: "\n"))
        try session.type(Keys.enter, "x", Keys.enter)
        try session.terminal.wait(for: "x") { $0.lines.contains { $0.contains("refused") } }
        print(session.terminal.screen.lines.map { "|" + $0 }.joined(separator: "\n"))
        try session.type(Keys.escape)
        try session.waitForNo("    10x")
        try session.type("?")
        try session.wait("any key")
        print(session.terminal.screen.lines.map { "|" + $0 }.joined(separator: "\n"))
        try session.type("q")
        try session.wait(">")
        try session.leave()
    }
}
