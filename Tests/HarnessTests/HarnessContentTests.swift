import Foundation
import PersistentPreferences
import PrefsPropertyLists
import PropertyListSupport
import Testing
import TestSupport

@testable import PrefsSupport
@testable import PrefsTool

/// `prefs doctor -f FILE` reports the problems of the contents of a file, and changes nothing.
@Suite(.waits) final class HarnessContentTests: HarnessSuite {
    struct Case: Sendable {
        let content: Data
        /// The state of the whole file in the report.
        let state: String
        /// The problems with their places. The exit code is 1 if there are problems.
        var lines: [String] = []
    }

    private static func xml(_ entries: String) -> String {
        #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n<plist version=\"1.0\"><dict>\(entries)</dict></plist>"
    }

    private static let deep = String(repeating: "<array>", count: 65) + String(repeating: "</array>", count: 65)
    private static let tooDeep = String(repeating: "<array>", count: 170) + String(repeating: "</array>", count: 170)
    private static let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
    private static let twins = "<key>\u{E9}</key><integer>1</integer><key>e\u{301}</key><integer>2</integer>"
    private static let twinsReason =
        "the keys \"\u{E9}\" (U+00E9) and \"e\u{301}\" (U+0065 U+0301) differ only in Unicode normalization, and a write "
        + "would lose one of them, so writes are rejected"
    /// Binary and of our own writer, because debug builds take seconds for so much XML, and Foundation takes one for so much data.
    private static let large =
        (try? PropertyListCoder.encode(
            objects: ["A": ["a": Data(count: 3 << 20), "b": Data(count: 3 << 20 + 1)]], as: .binary)) ?? Data()

    static let cases: [Case] = [
        list("", "0 roots, 0 values"),
        list("<key>A</key><dict><key>k</key><true/></dict><key>B</key><dict/>", "2 roots, 1 value"),
        list("<key>A</key><dict/><key>loose</key><true/>", "1 root, 0 values, 1 other entry"),
        list("<key>a</key><true/><key>b</key><array/>", "2 values"),
        Case(content: Data(), state: "the file is empty: nothing was stored yet"),
        // The content tells the format, whatever the name.
        Case(content: Data(#"{"name": "x", "scripts": {"a": "b"}, "files": []}"#.utf8), state: "JSON, 3 entries"),
        // It may be an empty list of the OpenStep format, so no write makes it JSON.
        foreign("{}", "is text that begins with {, not a property list"),
        foreign("()", "is text that begins with (, not a property list"),
        foreign("bplist00", "too short for a binary property list, or of an unknown version"),
        foreign(xml("\n<key>a</key>\n"), "line 3, column 13: a key without a value"),
        foreign("<plist><array/></plist>", "its top level is not a dictionary"),
        unsafe(
            Data(#"<?xml version="1.0" encoding="UTF-16"?><plist/>"#.utf8),
            "its declaration says utf-16, but its bytes are not"),
        unsafe(Data([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0]), "expected UTF-8, UTF-16, Latin-1 or ASCII, found UTF-32"),
        unsafe(Data(xml("<key>A</key>\(tooDeep)").utf8), "line 2, column 600: nested deeper than 80 levels"),
        list("<key></key><dict/>", "1 root, 0 values", [#""": is not a valid root key: it is empty"#]),
        list(
            "<key>\u{202E}</key><string>\u{1}</string>", "1 value",
            [
                #"\u{202e}: the control character U+0001 cannot be stored in XML, so other programs may read it differently"#
            ]),
        // At the top, in a root of another program, and in a list.
        list(twins, "1 value", [twinsReason]),
        list("<key>theirs</key><dict>\(twins)</dict>", "1 root, 1 value", [twinsReason]),
        list("<key>x</key><array><dict>\(twins)</dict></array>", "1 value", [twinsReason]),
        list(
            "<key>A</key><dict><key>deep</key>\(deep)<key>list</key><array><true/>\(uid)</array></dict>",
            "1 root, 2 values", ["A.deep" + String(repeating: "[0]", count: 64) + ": nested deeper than 64 levels"]),
        // In their order, which is not that of the dictionary.
        list(
            "<key>A</key><dict><key>v</key><dict>\("hgfedcba".map { "<key>\($0)</key>\(deep)" }.joined())</dict></dict>",
            "1 root, 1 value",
            "abcdefgh".map { "A.v.\($0)" + String(repeating: "[0]", count: 63) + ": nested deeper than 64 levels" }),
        Case(
            content: large, state: "a binary property list, 1 root, 2 values",
            lines: ["A: the root is larger than 4 MiB: nothing can be added"]),
        // The values and keys of the program's settings are checked, too.
        list(
            "<key>PrefsTestSet</key><dict><key>Integer Valeu</key><integer>1</integer><key>Integer Value</key><true/></dict>",
            "1 root, 2 values",
            [
                "PrefsTestSet.Integer Valeu: is not a key of PrefsTestSet; did you mean \"Integer Value\"?",
                "PrefsTestSet.Integer Value: expected Int, found a Boolean",
            ]),
    ]

    private static func list(_ entries: String, _ counts: String, _ lines: [String] = []) -> Case {
        Case(content: Data(xml(entries).utf8), state: "an XML property list, \(counts)", lines: lines)
    }

    private static func foreign(_ content: String, _ reason: String) -> Case {
        Case(content: Data(content.utf8), state: "not written by this package: \(reason)", lines: [reason])
    }

    private static func unsafe(_ content: Data, _ reason: String) -> Case {
        Case(
            content: content, state: "not safe to read: \(reason)",
            lines: ["the file is not safe to read: \(reason); it is not changed, and writes are rejected"])
    }

    @Test(arguments: cases.indices) func theProblemsAreReportedWithTheirPlaces(index: Int) throws {
        let example = Self.cases[index]
        let file = try home.write(example.content, to: "x.plist")
        let path = home.path("x.plist")
        let printed = try prefs("doctor", "-f", path)
        #expect(printed.output.contains("\nstate        \(example.state)\n"), "\(printed)")
        #expect(printed.code == (example.lines.isEmpty ? 0 : 1) && printed.errors == "")
        let problems = printed.output.split(separator: "\n").filter { $0.hasPrefix("problem: ") }
        #expect(
            zip(problems, example.lines).allSatisfy { $0.hasPrefix("problem: \($1)") }
                && problems.count == example.lines.count, "\(printed)")
        let report = try home.doctor(path)
        #expect(report.code == printed.code && report.members["isHealthy"] as? Bool == example.lines.isEmpty)
        // No command removes what may be the valid file of another program.
        if example.lines == [Self.twinsReason] || example.state.hasPrefix("not ") { #expect(report.commands == []) }
        #expect(try Data(contentsOf: file) == example.content)
        #expect(try home.folder.names() == ["x.plist"])
    }

    /// No command takes one of two spellings for all there is.
    @Test func whatNoReadReturnsIsTold() throws {
        let path = try home.write(Data(Self.xml(Self.twins).utf8), to: "x.plist").path
        let reason = String(Self.twinsReason.dropLast(", so writes are rejected".count))
        let other = try home.write(#"{"a": 1}"#, to: "y.json").path
        #expect(try prefs("import", "-f", other, path) == .failure("\(path): \(reason); nothing has changed"))
        #expect(try String(contentsOfFile: other, encoding: .utf8) == #"{"a": 1}"#)
        for verb in ["cp", "mv"] {
            let new = home.path("new.json")
            let printed = try prefs(verb, "-f", path, "-f", new, "\u{E9}")
            #expect(printed == .failure("\(path): \(reason); nothing has changed"))
            #expect(!FileManager.default.fileExists(atPath: new))
        }
        for sides in [[path, other], [other, path]] {
            let printed = try prefs(["diff"] + sides)
            #expect(printed == Printed(errors: "prefs: \(path): \(reason)\n", code: 2))
        }
        let exported = try prefs("export", "-f", path)
        #expect(exported.output == "{\n  \"e\u{301}\": 2\n}\n")
        #expect(exported.errors == "prefs: \(path): \(reason); writes are rejected\n")
    }

    @Test(arguments: FoundFile.Content.allCases, FoundFile.Neighbors.allCases)
    func anInspectionChangesNothing(_ content: FoundFile.Content, _ neighbors: FoundFile.Neighbors) throws {
        for isLinked in [false, true] {
            let folder = try TemporaryFolder()
            let url = try FoundFile.put(content, neighbors, isLinked, in: folder)
            let before = try FolderState(folder)
            for isJSON in [false, true] {
                _ = FileInspection(path: url.path, isJSON: isJSON)
                _ = try? SidecarPaths(path: url.path)
                #expect(try FolderState(folder) == before, "JSON: \(isJSON), link: \(isLinked)")
            }
        }
    }

    @Test func aReportInJSONCountsTheValues() throws {
        try home.write(["A": ["k": 1, "l": [2]], "loose": "x"], to: "x.plist")
        let path = home.path("x.plist")
        let whole = try prefs("doctor", "-f", path, "--json")
        #expect(whole.code == 0 && whole.output.hasPrefix(#"{"file":"\#(path)","leadsTo":"\#(path)","state":"whole""#))
        #expect(whole.output.contains(#""format":"binary","roots":1,"values":2,"problems":[]"#))
        try home.write("no", to: "x.plist")
        let problems = #"[{"path":"","reason":"is neither a binary nor an XML property list"}]"#
        let foreign = try prefs("doctor", "-f", path, "--json")
        #expect(foreign.code == 1)
        #expect(foreign.output.contains(#""format":null,"roots":0,"values":0,"problems":\#(problems)"#))
    }

    /// `HarnessDoctorTests` has other kinds of files.
    @Test func aDeviceAndACycleOfLinksAreReported() throws {
        try #require(symlink("loop", home.path("loop")) == 0)
        for (path, reason) in [
            ("/dev/zero", "is a device"),
            (home.path("loop"), "open: \(String(cString: strerror(ELOOP))); expected a link that leads to a file"),
        ] {
            let printed = try prefs("doctor", "-f", path)
            let problem = "\nproblem: \(path) cannot be read: \(reason)\n"
            #expect(printed.code == 1 && printed.output.contains(problem), "\(printed)")
        }
    }

    // MARK: - Values of a class

    private func findings(_ path: String) throws -> [Finding] {
        let program = AppPrefs.program
        return Diagnosis(path: path, of: program, prefs: program.make(nil, try Target.file(path).store(of: program)))
            .findings
    }

    @Test func valuesThatDoNotFitTheClassAreReported() throws {
        let misfits = ["theme": "pink", "fontSize": 7, "wraps": true, "user name": 5] as [String: Any]
        let path = try home.write(["AppPrefs": misfits, "Other": ["theme": 3]], to: "app.plist").path
        let printed = try CommandRun(environment: ["HOME": home.folder.path]).run(
            ["doctor", "-f", path], of: AppPrefs.program)
        let lines = printed.output.split(separator: "\n").filter { $0.hasPrefix("problem: ") }
        #expect(printed.code == 1 && lines.count == 3, "\(lines)")
        for (line, key) in zip(lines, ["fontSize", "theme", "user name"]) {
            #expect(line.hasPrefix("problem: AppPrefs.\(key): "))
        }
        #expect(lines[0] == "problem: AppPrefs.fontSize: must be in 8.0...72.0")
        #expect(try prefs("doctor", "-f", path).code == 0)
        // The commands are those of the program. The first keeps a copy.
        let findings = try findings(path)
        #expect(findings.count == 3 && findings.allSatisfy(\.isProblem))
        #expect(findings[0].command?.hasSuffix(" prefs unset --force -f \(path) AppPrefs.fontSize") == true)
        #expect(findings.map { $0.command?.hasPrefix("cp -p ") } == [true, false, false])
        // A key that the class does not have may be a typing error.
        try home.write(["AppPrefs": ["fontSiz": 9, "theme": "dark"]], to: "app.plist")
        #expect(try self.findings(path).map(\.command) == [nil])
        // An earlier copy stays. Two faults of one value have one command.
        try home.write(Data(), to: "app.plist.copy")
        try home.write(
            Self.xml("<key>A</key><dict><key>k</key><array>\(Self.deep)\(Self.deep)</array></dict>"), to: "app.plist")
        let faults = try self.findings(path)
        #expect(faults.count == 2 && faults.map { $0.command == nil } == [false, true], "\(faults)")
        #expect(faults.first?.command?.hasPrefix("cp -p \(path) \(path).copy-2 && ") == true)
        try home.write(["AppPrefs": ["theme": "dark", "fontSize": 9]], to: "app.plist")
        #expect(try self.findings(path).isEmpty)
    }

    @Test func aDamagedFileIsMendedByTheProgram() throws {
        let path = home.path("app.plist")
        try home.claim("app.plist")
        #expect(try prefs("set", "-f", path, "AppPrefs.fontSize", "9", "-t", "integer") == Printed())
        try Data("bplist00".utf8).write(to: URL(filePath: path))
        #expect(try findings(path).first?.command?.hasSuffix(" prefs doctor --mend -f \(path)") == true)
    }
}
