import Foundation
import TestSupport
import Testing

/// What commands leave beside the files of others: nothing. A command is a process, as for people.
@Suite(.waits) final class HarnessTracesTests: HarnessSuite {
    private var folder: String { home.path("files") }

    override init() throws {
        try super.init()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    private func shell(_ line: String) throws -> Printed {
        try home.bash("cd files; \(line)", ["EDITOR": "sed -i s/1/3/"])
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }

    private static let formats: [(String, Data)] = [
        ("x.json", Data("{\"a\": 1, \"b\": {\"c\": 2}}\n".utf8)),
        ("Preferences", Data("{\"a\": 1, \"b\": {\"c\": 2}}".utf8)),
        ("x.plist", Data("<plist version=\"1.0\"><dict><key>a</key><integer>1</integer></dict></plist>".utf8)),
    ]

    private static let writes = [
        "prefs set NAME a 2", "prefs unset NAME a", "prefs cp NAME:a NAME:z", "prefs mv NAME:a NAME:z",
        "echo '{\"a\": 5}' | prefs import -f NAME", "prefs edit NAME", "prefs set NAME a 2; prefs undo NAME",
    ]

    @Test(arguments: formats, writes)
    func aWriteLeavesNothingBesideAForeignFile(_ file: (name: String, bytes: Data), line: String) throws {
        let url = URL(filePath: "\(folder)/\(file.name)")
        try file.bytes.write(to: url)
        let printed = try shell(line.replacing("NAME", with: file.name))
        #expect(printed.code == 0 && printed.errors == "", "\(printed)")
        #expect(try (Data(contentsOf: url) == file.bytes) == line.contains("undo"))
        #expect(try names == [file.name])
    }

    /// Each process makes the lock, or finds the one of another, which disappears while it waits.
    @Test func writersOfAForeignFileStillTakeTurns() throws {
        try Self.formats[0].1.write(to: URL(filePath: "\(folder)/x.json"))
        let writes = Hazard.count(6, long: 40)
        let loop = "(for i in $(seq \(writes)); do prefs set -f x.json a +1 2> waits || echo failed; done) &"
        #expect(try shell("\(loop) \(loop) \(loop) wait; prefs get x.json a") == Printed("\(1 + 3 * writes)\n"))
        #expect(try names == ["waits", "x.json"])
    }

    @Test func theFilesOfProgramsKeepTheirLockAndCopy() throws {
        let name = "\(HarnessHome.suite).plist"
        let listed = try shell("prefs set int 5; ls -A ../.config")
        #expect(listed == Printed(".\(name).lastgood\n.\(name).lock\n\(name)\n"))
        // A program of this package has written the file before.
        let copied = "cp ../.config/*.plist x.plist; cp ../.config/.*.lastgood .x.plist.lastgood"
        #expect(try shell("\(copied); prefs set x.plist --root PrefsTestSet int 6") == Printed())
        #expect(try names == [".x.plist.lastgood", ".x.plist.lock", "x.plist"])
    }

    @Test func aNewFileHasThePermissionsOfTheUmask() throws {
        for (umask, name, mode) in [
            ("022", "x.json", "644"), ("077", "y.json", "600"), ("002", "z.plist", "664"),
            ("022", "../.config/com.example.app.plist", "644"),
        ] {
            let printed = try shell("mkdir -p ../.config; umask \(umask); prefs set -f \(name) a 1; stat -c %a \(name)")
            #expect(printed == Printed("\(mode)\n"))
        }
        // A domain belongs to its user alone.
        let domain =
            "umask 022; prefs set -f com.example.other a 1 --force; stat -c %a ../.config/com.example.other.plist"
        #expect(try shell(domain) == Printed("600\n"))
    }
}
