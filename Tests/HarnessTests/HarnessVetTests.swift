import Foundation
import TestSupport
import Testing

/// `prefs vet` reports the problems of a file and changes nothing.
@Suite struct HarnessVetTests {
    struct Case: Sendable {
        let content: String
        /// The output lines without the path.
        let lines: [String]
        let code: Int32
    }

    private static func xml(_ entries: String) -> String {
        #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n<plist version=\"1.0\"><dict>\(entries)</dict></plist>"
    }

    private static let deep = String(repeating: "<array>", count: 129) + String(repeating: "</array>", count: 129)
    private static let tooDeep = String(repeating: "<array>", count: 170) + String(repeating: "</array>", count: 170)
    private static let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
    private static let large = "<data>" + String(repeating: "AAAA", count: 1 << 20) + "</data>"

    static let cases: [Case] = [
        Case(content: xml(""), lines: ["an XML property list, 0 roots, 0 values; nothing wrong"], code: 0),
        Case(
            content: xml("<key>A</key><dict><key>k</key><true/></dict><key>B</key><dict/>"),
            lines: ["an XML property list, 2 roots, 1 value; nothing wrong"], code: 0),
        Case(
            content: xml("<key>A</key><dict/><key>loose</key><true/>"),
            lines: [
                "an XML property list, 1 root, 0 values; nothing wrong",
                "1 top-level entry is not a root; UserDefaults domains may contain such entries",
            ], code: 0),
        Case(
            content: xml("<key>a</key><true/><key>b</key><array/>"),
            lines: [
                "an XML property list, 0 roots, 0 values; nothing wrong",
                "2 top-level entries are not roots; UserDefaults domains may contain such entries",
            ], code: 0),
        Case(content: "", lines: ["is empty"], code: 1),
        Case(content: "{}", lines: ["is JSON, not a property list"], code: 1),
        Case(content: "bplist00", lines: ["too short for a binary property list, or of an unknown version"], code: 1),
        Case(content: xml("\n<key>a</key>\n"), lines: ["line 3, column 13: a key without a value"], code: 1),
        Case(content: "<plist><array/></plist>", lines: ["its top level is not a dictionary"], code: 1),
        Case(
            content: #"<?xml version="1.0" encoding="UTF-16"?><plist/>"#,
            lines: ["its declaration says utf-16, but its bytes are not"], code: 1),
        Case(
            content: xml("<key>A</key>\(tooDeep)"), lines: ["line 2, column 1160: nested deeper than 160 levels"],
            code: 1),
        Case(content: xml("<key></key><dict/>"), lines: [#""": is not a valid root key: it is empty"#], code: 1),
        Case(
            content: xml("<key>A</key><dict><key>deep</key>\(deep)<key>list</key><array><true/>\(uid)</array></dict>"),
            lines: [
                "A.deep" + String(repeating: "[0]", count: 128) + ": nested deeper than 128 levels"
            ], code: 1),
        Case(
            content: xml("<key>A</key><dict><key>a</key>\(large)<key>b</key>\(large)</dict>"),
            lines: ["A: the root is larger than 4 MiB: nothing can be added"], code: 1),
    ]

    @Test(arguments: cases.indices) func vetPrintsProblemsWithTheirLocation(index: Int) throws {
        let (home, example) = (try HarnessHome(), Self.cases[index])
        let file = try home.write(Data(example.content.utf8), to: "x.plist")
        let path = home.path("x.plist")
        let output = example.lines.map { "\(path): \($0)\n" }.joined()
        #expect(try home.prefs("vet", path) == Printed(output, code: example.code))
        #expect(try Data(contentsOf: file) == Data(example.content.utf8))
        #expect(try home.folder.names() == ["x.plist"])
    }

    @Test func vetPrintsJSON() throws {
        let home = try HarnessHome()
        try home.write(["A": ["k": 1, "l": [2]], "loose": "x"], to: "x.plist")
        let path = home.path("x.plist")
        let head = #"{"file":"\#(path)","format""#
        #expect(
            try home.prefs("vet", path, "--json")
                == Printed("\(head):\"binary\",\"roots\":1,\"values\":2,\"problems\":[]}\n"))
        try home.write(Data("no".utf8), to: "x.plist")
        let problems = #"[{"path":"","reason":"is neither a binary nor an XML property list"}]"#
        #expect(
            try home.prefs("vet", path, "--json")
                == Printed("\(head):null,\"roots\":0,\"values\":0,\"problems\":\(problems)}\n", code: 1))
    }

    /// Files that crash Foundation's parsers or make them loop. A process, since the tests would not survive either.
    @Test func hostileFilesAreSurvived() throws {
        let home = try HarnessHome()
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let damaged = tests.appending(path: "FileEngineTests/Damaged")
        let files = try FileManager.default.contentsOfDirectory(at: damaged, includingPropertiesForKeys: nil)
        #expect(files.count == 10)
        for file in files {
            let printed = try home.process(["vet", file.path])
            let reason =
                file.lastPathComponent == "decoder_hang.plist"
                ? "a container that contains itself" : "an object of unknown kind"
            #expect(printed == Printed("\(file.path): \(reason)\n", code: 1))
        }
    }

    @Test func vetReportsAPathThatIsNotARegularFile() throws {
        let home = try HarnessHome()
        let fifo = home.path("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        try #require(symlink("loop", home.path("loop")) == 0)
        let large = try FileHandle(forWritingTo: home.write(Data(), to: "large"))
        try large.truncate(atOffset: 1 << 33)
        try large.close()
        let names = try home.folder.names()
        for (path, reason) in [
            (home.path("missing"), "the file does not exist"), (home.folder.path, "is a folder"),
            (fifo, "is a FIFO"), ("/dev/zero", "is a device"),
            (home.path("large"), "larger than 256 MiB"),
            (home.path("loop"), "open: \(String(cString: strerror(ELOOP)))"),
        ] {
            #expect(try home.prefs("vet", path) == Printed("\(path): \(reason)\n", code: 1))
        }
        #expect(try home.folder.names() == names)
    }
}
