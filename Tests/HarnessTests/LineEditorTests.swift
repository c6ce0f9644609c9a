import Foundation
import PersistentPreferences
import PrefsTestSet
import TestSupport
import Testing

@testable import PrefsTool

/// Editing line by line: the replies to lines, and a small or dumb terminal.
@Suite struct LineEditorTests {
    /// Runs the editor on lines. Returns what it writes without the prompts.
    private static func replies(_ source: any EditableSource, _ lines: [String]) throws -> [String] {
        var rest = lines[...]
        var output = ""
        var editor = LineEditor(source, columns: 60, readLine: { rest.popFirst() }, write: { output += $0 })
        try editor.run()
        return output.replacing("N VALUE, KEY=VALUE, l, ?, q> ", with: "").split(separator: "\n").map(String.init)
    }

    @Test func aClassIsEdited() throws {
        let prefs = PrefsTestSet(values: ["String Value": "a\u{1B}[2J"], store: InMemoryStore())
        let source = ClassSource(prefs, title: "t", file: nil)
        let replies = try Self.replies(
            source,
            [
                "1 5", "string=x=y", "2", "3 a,b", "r 1", "r 1", "u", "1 x", "9 1", "nonsense=1", "what", "t 1 string",
                "u", "u",
                "1", "q", "1 9",
            ])
        #expect(
            replies == [
                "1 Integer Value = 0", #"2 String Value = a\u{1b}[2J"#, "3 Array Value = []", "4 Dictionary Value = {}",
                "5 Date Value = \(prefs.text(of: .date(.distantPast), forKey: "Date Value"))",
                "Integer Value = 5", "String Value = x=y", "String Value = x=y", #"Array Value = ["a","b"]"#,
                "Integer Value = 0", "Integer Value = 0", "Integer Value = 5",
                #"Integer Value: expected Int, found "x": not a number"#,
                "there is no value 9; l lists all", "no key `nonsense`", "expected N VALUE or KEY=VALUE; ? shows more",
                "the program determines the types", "Array Value = []", #"String Value = a\u{1b}[2J"#,
                "Integer Value = 5",
            ])
    }

    @Test func aDomainIsEdited() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("p.plist")
        let content: [String: Any] = ["A": ["list": [1, 2], "empty": [String: Any]()] as [String: Any], "b": true]
        try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0).write(to: url)
        let source = DomainSource(try Roots(url: url), name: "n")
        let replies = try Self.replies(
            source,
            [
                "3 20", "A.list[2]=x", "A.new.deep=text", "r A.list[0]", "t b string", "b=yes", "b=a", "1 x",
                "t b nothing", "u",
                "u", "l", "?", "r A", "u",
            ])
        #expect(replies.prefix(4) == ["1 A.empty = empty", "2 A.list[0] = 1", "3 A.list[1] = 2", "4 b = true"])
        #expect(
            replies.dropFirst(4).prefix(9) == [
                "A.list[1] = 20", "A.list[2] = x", "A.new.deep = text", "A.list[0] = 20", "b = true", "b = yes",
                "b = a",
                "`A.empty` has entries; store those",
                "expected t N TYPE; types are string, integer, float, boolean, date, data, array, dictionary",
            ])
        #expect(
            replies.dropFirst(13).prefix(7) == [
                "b = yes", "b = true", "1 A.empty = empty", "2 A.list[0] = 20", "3 A.list[1] = x",
                "4 A.new.deep = text",
                "5 b = true",
            ])
        #expect(replies.suffix(2) == ["A = (not set)", "A = 3 entries"])
    }

    @Test func aReplaceableValueIsConfirmed() throws {
        let store = InMemoryStore()
        try store.update(root: "PrefsTestSet") { $0 = ["Integer Value": "ten"] }
        let source = ClassSource(PrefsTestSet(store: store), title: "t", file: nil)
        let question = "u cannot restore the old `Integer Value`; go on? (y/n) "
        let replies = try Self.replies(source, ["int=1", "n", "int=2", "y", "u"])
        #expect(replies.suffix(2) == [question + question + "Integer Value = 2", "there is nothing to undo"])
    }

    @Test(arguments: [(30, 10, "xterm"), (80, 24, "dumb"), (39, 40, "xterm"), (200, 11, "xterm")])
    func aTerminalThatCannotShowTheFormGetsLines(columns: Int, rows: Int, terminalName: String) throws {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let terminal = try PseudoTerminal(
            Child.executable("prefs"), ["edit"], environment: ["HOME": home.folder.path, "TERM": terminalName],
            columns: columns, rows: rows)
        let modes = terminal.modesAtStart
        try terminal.wait(forText: "q> ")
        try terminal.type("1 4x\n")
        try terminal.wait(forText: #"found "4x""#)
        try terminal.type("1 4x\u{7F}2\n")
        try terminal.wait(forText: "Integer Value = 42")
        try terminal.type("string=\u{16}\u{1B}[2J\n")
        try terminal.wait(forText: #"String Value = \u{1b}[2J"#)
        try terminal.type("u\n")
        try terminal.wait(forText: "String Value = Sample String\r\n")
        try terminal.type("q\n")
        #expect(try terminal.exitCode() == 0)
        #expect(terminal.modes == modes && !terminal.screen.isAlternate)
        #expect(try home.prefs("get", "int") == Printed("42\n"))
    }

    @Test func theEndOfTheInputLeaves() throws {
        let home = try HarnessHome()
        try home.write(["A": ["k": 1]], to: "s.plist")
        let terminal = try PseudoTerminal(
            Child.executable("prefs"), ["edit", home.path("s.plist")], environment: ["HOME": home.folder.path],
            columns: 30, rows: 10)
        try terminal.wait(forText: "1 A.k = 1")
        try terminal.wait(forText: "q> ")
        try terminal.type("A.k=2\n")
        try terminal.wait(forText: "A.k = 2")
        try terminal.type("\u{4}")
        #expect(try terminal.exitCode() == 0)
        #expect(try home.prefs("read", home.path("s.plist"), "A", "k") == Printed("2\n"))
    }
}
