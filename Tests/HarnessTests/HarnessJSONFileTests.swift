import Foundation
import Testing
import TestSupport

/// The commands on a file with the extension `.json`.
@Suite final class HarnessJSONFileTests: HarnessSuite {
    private var path: String { home.path("x.json") }

    private func text() throws -> String { try home.text("x.json") }

    @Test func valuesAreStoredAsJSON() throws {
        #expect(try prefs("set", "int", "5", in: path) == Printed())
        #expect(try text() == "{\n  \"PrefsTestSet\": {\n    \"Integer Value\": 5\n  }\n}\n")
        try home.write(
            "{\r\n \"PrefsTestSet\": {\"Integer Value\": 6, \"String Value\": \"caf\\u00e9\"}\r\n}",
            to: "x.json")
        #expect(try prefs("get", "int", in: path) == Printed("6\n"))
        #expect(try prefs("get", "string", in: path) == Printed("café\n"))
        let shown = try prefs("show", in: path)
        #expect(shown.output.contains("store  JSON file\nfile   \(path)\n") && shown.code == 0)
        let exported = try prefs("export", in: path)
        #expect(exported == Printed("{\n  \"Integer Value\": 6,\n  \"String Value\": \"café\"\n}\n"))
        #expect(try prefs("set", "date", "2026-11-21", in: path) == Printed())
        let date = "{\"Date Value\": \"2026-11-21T00:00:00Z\", \"Integer Value\": 6, \"String Value\": \"caf\\u00e9\"}"
        #expect(try text() == "{\r\n \"PrefsTestSet\": \(date)\r\n}")
    }

    @Test func domainCommandsReadAndWriteIt() throws {
        try home.claim("x.json")
        #expect(try prefs("set", "-f", path, "R.k", "3", "-t", "integer") == Printed())
        #expect(try text() == "{\n  \"R\": {\n    \"k\": 3\n  }\n}\n")
        #expect(try prefs("get", "-f", path, "R.k") == Printed("3\n"))
        let report = try prefs("doctor", "-f", path)
        #expect(
            report.code == 0 && report.output.contains("JSON, 1 root, 1 value")
                && report.output.contains("the same as the file"))
        let json = try prefs("doctor", "-f", path, "--json").output
        #expect(json.contains(#""format":"json""#) && json.contains(#""isUsable":true"#))
        #expect(try prefs("export", "-f", path, "--format", "xml").output.hasPrefix("<?xml"))
    }

    /// What a person's file has and no export holds.
    @Test func nullsAreComparedAndNotExported() throws {
        let other = home.path("y.json")
        try home.write(#"{"a": null, "n": [1, null], "big": 12345678901234567890123}"#, to: "x.json")
        try home.write(#"{"a": 1, "n": [1, null], "big": 12345678901234567890123}"#, to: "y.json")
        let difference = try prefs("diff", path, other)
        #expect(difference.code == 1 && difference.output.contains("null") && !difference.output.contains("big"))
        #expect(try prefs("diff", path, path) == Printed())
        let exported = try prefs("export", "-f", path)
        #expect(exported.code == 0 && !exported.output.contains("null") && !exported.output.contains("\"a\""))
        #expect(try prefs("export", "-f", path, "--format", "xml").code == 0)
    }

    @Test func aTypoIsExplainedAndMended() throws {
        try home.claim("x.json")
        try prefs("set", "-f", path, "R.k", "3", "-t", "integer")
        try home.write("{\n  \"R\": {\n    \"k\": 4,,\n  }\n}\n", to: "x.json")
        let reason = "line 3, column 12: expected a key in quotes (at R)"
        let report = try prefs("doctor", "-f", path)
        #expect(report.code == 1)
        #expect(
            report.output.contains(
                "the file is damaged: \(reason); correct line 3, or run the command, which quarantines"))
        let read = try prefs("get", "-f", path, "R.k")
        #expect(read.output == "3\n" && read.code == 1 && read.errors.contains(reason))
        let mended = try prefs("doctor", "-f", path, "--mend")
        #expect(mended.code == 0 && mended.output.contains("restored the last good copy"))
        #expect(try text() == "{\n  \"R\": {\n    \"k\": 3\n  }\n}\n")
    }

    @Test func aFileThatWeHaveNotWrittenIsNotMended() throws {
        try home.write("{\n  \"R\": {\"k\": 4}, # mine\n}\n", to: "x.json")
        let before = try home.state()
        let report = try prefs("doctor", "-f", path, "--mend")
        #expect(report.code == 1)
        let text = try prefs("doctor", "-f", path).output
        #expect(text.contains("line 2, column 18: a comment begins with //; expected a key in quotes"))
        #expect(text.contains("if it is meant to be JSON, correct line 2"))
        let names = Set(try home.state().keys).subtracting(before.keys)
        #expect(names.isSubset(of: [".x.json.lock"]))
    }

    @Test func watchReportsAnEdit() throws {
        try prefs("set", "int", "1", in: path)
        let child = try PipedChild(
            "prefs", ["watch", "int", "-f", path, "--root", "PrefsTestSet"], home: home.folder, mergesErrors: true)
        #expect(try child.line() == "prefs: watching \(path); press Ctrl-C to stop")
        try home.write("{\"PrefsTestSet\": {\"Integer Value\": 2}}", to: "x.json")
        #expect(try child.line().hasSuffix("  Integer Value: 1 → 2"))
    }
}
