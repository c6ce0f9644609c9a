import Foundation
import Testing
import TestSupport

/// `prefs doctor -f FILE` reports the problems of the contents of a file, and changes nothing.
@Suite final class HarnessContentTests: HarnessSuite {
    struct Case: Sendable {
        let content: Data
        /// The state of the whole file in the report.
        let state: String
        /// The problems with their places.
        var lines: [String] = []
        /// The exit code is 1 if there are problems.
        var hasProblems: Bool { !lines.isEmpty }

        init(content: Data, state: String, lines: [String] = []) {
            (self.content, self.state, self.lines) = (content, state, lines)
        }

        init(content: String, state: String, lines: [String] = []) {
            self.init(content: Data(content.utf8), state: state, lines: lines)
        }
    }

    private static func xml(_ entries: String) -> String {
        #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n<plist version=\"1.0\"><dict>\(entries)</dict></plist>"
    }

    private static let deep = String(repeating: "<array>", count: 65) + String(repeating: "</array>", count: 65)
    private static let tooDeep = String(repeating: "<array>", count: 170) + String(repeating: "</array>", count: 170)
    private static let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
    /// Binary, because debug builds take seconds for so much XML.
    private static let large =
        (try? PropertyListSerialization.data(
            fromPropertyList: ["A": ["a": Data(count: 3 << 20), "b": Data(count: 3 << 20 + 1)]], format: .binary,
            options: 0)) ?? Data()

    static let cases: [Case] = [
        Case(content: xml(""), state: "an XML property list, 0 roots, 0 values"),
        Case(
            content: xml("<key>A</key><dict><key>k</key><true/></dict><key>B</key><dict/>"),
            state: "an XML property list, 2 roots, 1 value"),
        Case(
            content: xml("<key>A</key><dict/><key>loose</key><true/>"),
            state: "an XML property list, 1 root, 0 values, 1 other entry"),
        Case(content: xml("<key>a</key><true/><key>b</key><array/>"), state: "an XML property list, 2 values"),
        Case(content: "", state: "the file is empty: nothing was stored yet"),
        // The content tells the format, whatever the name.
        Case(content: "{}", state: "JSON, 0 roots, 0 values"),
        foreign("()", "is text that begins with (, not a property list"),
        foreign("bplist00", "too short for a binary property list, or of an unknown version"),
        foreign(xml("\n<key>a</key>\n"), "line 3, column 13: a key without a value"),
        foreign("<plist><array/></plist>", "its top level is not a dictionary"),
        unsafe(
            #"<?xml version="1.0" encoding="UTF-16"?><plist/>"#, "its declaration says utf-16, but its bytes are not"),
        unsafe(xml("<key>A</key>\(tooDeep)"), "line 2, column 600: nested deeper than 80 levels"),
        Case(
            content: xml("<key></key><dict/>"), state: "an XML property list, 1 root, 0 values",
            lines: [#""": is not a valid root key: it is empty"#]),
        Case(
            content: xml("<key>A</key><dict><key>deep</key>\(deep)<key>list</key><array><true/>\(uid)</array></dict>"),
            state: "an XML property list, 1 root, 2 values",
            lines: ["A.deep" + String(repeating: "[0]", count: 64) + ": nested deeper than 64 levels"]),
        Case(
            content: large, state: "a binary property list, 1 root, 2 values",
            lines: ["A: the root is larger than 4 MiB: nothing can be added"]),
        // The values and keys of the program's settings are checked, too.
        Case(
            content: xml(
                "<key>PrefsTestSet</key><dict><key>Integer Valeu</key><integer>1</integer><key>Integer Value</key><true/></dict>"
            ), state: "an XML property list, 1 root, 2 values",
            lines: [
                "PrefsTestSet.Integer Valeu: is not a key of PrefsTestSet; did you mean \"Integer Value\"?",
                "PrefsTestSet.Integer Value: expected Int, found a Boolean",
            ]),
    ]

    private static func foreign(_ content: String, _ reason: String) -> Case {
        Case(content: content, state: "not written by this package: \(reason)", lines: [reason])
    }

    private static func unsafe(_ content: String, _ reason: String) -> Case {
        Case(
            content: content, state: "not safe to read: \(reason)",
            lines: ["the file is not safe to read: \(reason); it is not changed, and writes are rejected"])
    }

    @Test(arguments: cases.indices) func theProblemsAreReportedWithTheirPlaces(index: Int) throws {
        let (home, example) = (try HarnessHome(), Self.cases[index])
        let file = try home.write(example.content, to: "x.plist")
        let path = home.path("x.plist")
        let printed = try home.prefs("doctor", "-f", path)
        #expect(printed.output.contains("\nstate        \(example.state)\n"), "\(printed)")
        #expect(printed.code == (example.hasProblems ? 1 : 0) && printed.errors == "")
        let problems = printed.output.split(separator: "\n").filter { $0.hasPrefix("problem: ") }
        #expect(
            zip(problems, example.lines).allSatisfy { $0.hasPrefix("problem: \($1)") }
                && problems.count == example.lines.count, "\(printed)")
        let json = try home.prefs("doctor", "-f", path, "--json")
        let report = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect(json.code == printed.code && report?["isHealthy"] as? Bool == !example.hasProblems)
        #expect(try Data(contentsOf: file) == example.content)
        #expect(try home.folder.names() == ["x.plist"])
    }

    @Test func aReportInJSONCountsTheValues() throws {
        try home.write(["A": ["k": 1, "l": [2]], "loose": "x"], to: "x.plist")
        let path = home.path("x.plist")
        func report() throws -> (text: String, code: Int32) {
            let printed = try prefs("doctor", "-f", path, "--json")
            return (printed.output, printed.code)
        }
        let whole = try report()
        #expect(whole.code == 0 && whole.text.hasPrefix(#"{"file":"\#(path)","leadsTo":"\#(path)","state":"whole""#))
        #expect(whole.text.contains(#""format":"binary","roots":1,"values":2,"problems":[]"#))
        try home.write("no", to: "x.plist")
        let problems = #"[{"path":"","reason":"is neither a binary nor an XML property list"}]"#
        let foreign = try report()
        #expect(foreign.code == 1)
        #expect(foreign.text.contains(#""format":null,"roots":0,"values":0,"problems":\#(problems)"#))
    }

    /// Files that crash Foundation's parsers or make them loop. Runs in a process, because a crash or a loop would end
    /// the tests.
    @Test func hostileFilesAreSurvived() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let damaged = tests.appending(path: "FileEngineTests/Damaged")
        let files = try FileManager.default.contentsOfDirectory(at: damaged, includingPropertiesForKeys: nil)
        #expect(files.count == 10)
        for file in files {
            let printed = try home.process(["doctor", "-f", file.path])
            let reason =
                file.lastPathComponent == "decoder_hang.plist"
                ? "a container that contains itself" : "an object of unknown kind"
            #expect(printed.code == 1 && printed.output.contains("problem: \(reason); "), "\(printed)")
        }
    }

    @Test func aPathThatIsNotARegularFileIsReported() throws {
        let fifo = home.path("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        try #require(symlink("loop", home.path("loop")) == 0)
        let large = try FileHandle(forWritingTo: home.write(Data(), to: "large"))
        try large.truncate(atOffset: 1 << 33)
        try large.close()
        let names = try home.folder.names()
        for (path, reason) in [
            (home.folder.path, "is a folder"),
            (fifo, "is a FIFO"), ("/dev/zero", "is a device"),
            (home.path("large"), "larger than 256 MiB"),
            (home.path("loop"), "open: \(String(cString: strerror(ELOOP))); expected a link that leads to a file"),
        ] {
            let printed = try prefs("doctor", "-f", path)
            #expect(
                printed.code == 1 && printed.output.contains("\nproblem: \(path) cannot be read: \(reason)\n"),
                "\(printed)")
        }
        #expect(try home.folder.names() == names)
    }
}
