import Foundation
import TestSupport
import Testing

/// `prefs edit` in a terminal, with its own home.
struct EditorSession {
    /// The bytes that terminals send.
    enum Keys {
        static let escape = "\u{1B}"
        static let (up, down, right, left) = ("\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D")
        static let (pageUp, pageDown, erase) = ("\u{1B}[5~", "\u{1B}[6~", "\u{15}")
        static let (home, end, delete, backTab) = ("\u{1B}[H", "\u{1B}[F", "\u{1B}[3~", "\u{1B}[Z")
        static let (enter, tab, backspace) = ("\r", "\t", "\u{7F}")
        static let (redraw, interrupt, suspend) = ("\u{C}", "\u{3}", "\u{1A}")
    }

    let home: HarnessHome
    let terminal: PseudoTerminal

    /// An empty home gets the sample values first.
    init(
        in home: HarnessHome, columns: Int = 80, rows: Int = 24, arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws {
        self.home = home
        if try home.folder.names().isEmpty { try home.storeSampleValues() }
        terminal = try PseudoTerminal(
            Child.executable("prefs"), ["edit"] + arguments,
            environment: ["HOME": home.folder.path].merging(environment) { $1 }, columns: columns, rows: rows)
        try terminal.wait(for: "the form") { $0.isAlternate && $0.lines.last?.isEmpty == false }
    }

    static var program: String {
        get throws { try Child.executable("prefs").path(percentEncoded: false) }
    }

    func type(_ keys: String...) throws {
        try terminal.type(keys.joined())
    }

    /// Waits for a line with the given prefix.
    func wait(_ line: String) throws {
        try terminal.wait(for: "a line \(line)") { $0.lines.contains { $0.hasPrefix(line) } }
    }

    /// Waits until no line has the given prefix.
    func waitForNo(_ line: String) throws {
        try terminal.wait(for: "no line \(line)") { !$0.lines.contains { $0.hasPrefix(line) } }
    }

    /// Ends the editor by the given action, and checks that the terminal is restored.
    func end(oneOf codes: Set<Int32> = [0], _ act: () throws -> Void) throws {
        try act()
        let code = try terminal.exitCode()
        #expect(codes.contains(code))
        #expect(terminal.modes == terminal.modesAtStart)
        let screen = terminal.screen
        #expect(!screen.isAlternate && screen.showsCursor && screen.wraps && !screen.tellsPastes)
        #expect(screen.unknown.isEmpty)
    }

    /// Quits as a user does.
    func leave() throws {
        try end { try type("q") }
    }
}
