import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// Tables on a terminal, and in a pipe.
@Suite struct TableTests {
    private var table: Table {
        var table = Table()
        table.add("KEY", "TYPE", "VALUE")
        table.add("A long key", "Dictionary<String, String>", String(repeating: "v", count: 60))
        return table
    }

    @Test(arguments: [20, 24, 38, 60, 80, 120]) func aTableFitsTheTerminal(width: Int) {
        for line in table.text(width: width).split(separator: "\n") { #expect(line.count <= width) }
    }

    @Test func theLastColumnIsTruncatedFirst() {
        let lines = table.text(width: 60).split(separator: "\n")
        #expect(lines[1] == "A long key  Dictionary<String, String>  \(String(repeating: "v", count: 19))…")
        #expect(table.text(width: 42).split(separator: "\n")[1] == "A long key  Dictionary<Stri…  vvvvvvvvvvv…")
    }

    @Test func aPipeGetsEverything() throws {
        #expect(table.text().split(separator: "\n")[1].hasSuffix("  " + String(repeating: "v", count: 60)))
        let home = try HarnessHome()
        let long = String(repeating: "long ", count: 200) + "end"
        #expect(try home.prefs("set", "string", long) == Printed())
        #expect(try home.prefs("show").output.contains("  \(long)\n"))
    }

    @Test(arguments: [40, 80, 200]) func theSetFitsTheTerminal(columns: Int) throws {
        let home = try HarnessHome()
        #expect(try home.prefs("set", "string", String(repeating: "long ", count: 200)) == Printed())
        let terminal = try PseudoTerminal(
            Child.executable("prefs"), ["show"], environment: ["HOME": home.folder.path], columns: columns, rows: 24)
        #expect(try terminal.exitCode() == 0)
        let lines = String(decoding: terminal.output, as: UTF8.self).replacing("\r\n", with: "\n")
            .replacing(#/\u{1B}\[[0-9]*m/#, with: "").split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("KEY") })
        #expect(lines.count - start == 6)
        // A narrow terminal shows fewer columns.
        let columnNames = columns < 72 ? ["KEY", "VALUE"] : ["KEY", "STORED AS", "TYPE", "SOURCE", "VALUE"]
        #expect(lines[start].split(separator: #/  +/#).map(String.init) == columnNames)
        for line in lines[start...] { #expect(DisplayWidth.of(String(line)) <= columns) }
    }
}
