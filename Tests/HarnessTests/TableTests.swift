import Foundation
import Testing

@testable import PrefsTool

/// Tables on a terminal, and in a pipe.
@Suite(.waits) final class TableTests: HarnessSuite {
    private var table: Table {
        var table = Table()
        table.add("KEY", "TYPE", "VALUE")
        table.add("A long key", "Dictionary<String, String>", String(repeating: "v", count: 60))
        return table
    }

    @Test(arguments: [20, 24, 38, 60, 80, 120]) func aTableFitsTheTerminal(width: Int) {
        for line in table.text(width: width).split(separator: "\n") { #expect(line.count <= width) }
    }

    @Test(arguments: [40, 80, 200]) func aLongKeyLeavesRoomForTheValue(width: Int) {
        var table = Table()
        table.add("KEY", "TYPE", "VALUE")
        table.add(String(repeating: "k", count: 300), "string", String(repeating: "v", count: 300))
        let row = table.text(width: width).split(separator: "\n")[1]
        #expect(row.count == width && row.count { $0 == "v" } == width / 3 - 1 && row.contains("  string  "))
    }

    @Test func noRowIsPadded() {
        var table = Table()
        table.add("KEY", "VALUE")
        table.add("a", String(repeating: "v", count: 60))
        table.add("b", "")
        #expect(table.text() == "KEY  VALUE\na    \(String(repeating: "v", count: 60))\nb\n")
        #expect(table.text(width: 20) == "KEY  VALUE\na    \(String(repeating: "v", count: 14))…\nb\n")
        var wide = Table()
        wide.add("日本語\u{202E}", "x")
        wide.add("e\u{301}", "👍", "y")
        #expect(wide.text() == "日本語\\u{202e}  x\ne\u{301}               👍  y\n")
    }

    @Test func anEmptyTextIsNotNothing() throws {
        try home.write(#"{"a": "", "b": {}, "c": " "}"#, to: "s.json")
        let table = try prefs("show", "-f", home.path("s.json")).output
        #expect(table.hasSuffix("\na    string      \"\"\nb    dictionary  {}\nc    string       \n"), "\(table)")
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}\u{323}", 1), ("日本語", 6), ("한", 2), ("\u{1112}\u{1161}", 2), ("👍", 2),
        ("👍🏽", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("❤", 1), ("❤\u{FE0F}", 2), ("ｆ", 2), ("…", 1), ("\u{200B}", 0), ("𠀀", 2),
        ("ﻻ", 1), ("ह\u{93F}", 1), ("a\u{1B}b", 2),
    ])
    func charactersHaveTheirTerminalWidth(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test func fitsTextIntoColumns() {
        #expect(DisplayWidth.padded("abc", to: 5) == "abc  ")
        #expect(DisplayWidth.truncated("abcdef", to: 5) == "abcd…")
        #expect(DisplayWidth.truncated("日本語", to: 6) == "日本語")
        // Half a character does not fit.
        #expect(DisplayWidth.truncated("日本語", to: 4) == "日…")
        #expect(DisplayWidth.lines("one two three", width: 7) == ["one two", "three"])
        #expect(DisplayWidth.lines("a sevenletters日本 b", width: 5) == ["a", "seven", "lette", "rs日", "本 b"])
    }

    @Test func theLastColumnIsTruncatedFirst() {
        let lines = table.text(width: 60).split(separator: "\n")
        #expect(lines[1] == "A long key  Dictionary<String, String>  \(String(repeating: "v", count: 19))…")
        #expect(table.text(width: 42).split(separator: "\n")[1] == "A long key  Dictionary<St…  vvvvvvvvvvvvv…")
    }

    @Test func aPipeGetsEverything() throws {
        #expect(table.text().split(separator: "\n")[1].hasSuffix("  " + String(repeating: "v", count: 60)))
        let long = String(repeating: "long ", count: 200) + "end"
        #expect(try prefs("set", "string", long) == Printed())
        #expect(try prefs("show").output.contains("  \(long)\n"))
    }

    @Test(arguments: [40, 80, 200]) func theSetFitsTheTerminal(columns: Int) throws {
        #expect(try prefs("set", "string", String(repeating: "long ", count: 200)) == Printed())
        let (text, code) = try home.shown(["show"], columns: columns)
        #expect(code == 0)
        let lines = text.replacing(#/\u{1B}\[[0-9]*m/#, with: "").split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("KEY") })
        #expect(lines.count - start == 6)
        // A narrow terminal shows fewer columns.
        let columnNames = columns < 72 ? ["KEY", "VALUE"] : ["KEY", "STORED AS", "TYPE", "SOURCE", "VALUE"]
        #expect(lines[start].split(separator: #/  +/#).map(String.init) == columnNames)
        for line in lines[start...] { #expect(DisplayWidth.of(String(line)) <= columns) }
    }
}
