import Foundation
import TestSupport
import Testing

/// `prefs doctor` explains problems and changes nothing. The commands that it suggests solve the problems.
@Suite struct HarnessDoctorTests {
    /// The problems that the tests create.
    enum Problem: String, CaseIterable {
        case damaged, damagedInXML, damagedBehindLink, fifo, folder, hugeWithoutCopy, badValues, leftOver
        case linkedLock, fifoAsLock, folderAsLock, openLock

        /// The reported reason, with placeholders for paths.
        var reason: String {
            switch self {
            case .damaged, .damagedBehindLink:
                "the file is damaged: is neither a binary nor an XML property list; the command quarantines the file and restores "
                    + "the last good copy of TIME"
            case .damagedInXML:
                "the file is damaged: line 2, column 11: expected </integer>, found </integr>; correct line 2, or run the "
                    + "command, which quarantines the file and restores the last good copy of TIME"
            case .fifo: "FILE cannot be read: is a FIFO"
            case .folder: "FILE cannot be read: is a folder"
            case .hugeWithoutCopy: "FILE cannot be read: larger than 256 MiB"
            case .badValues: #""": is not a valid root key: it is empty"#
            case .leftOver: "a killed writer left TEMPORARY; the next write removes it"
            case .linkedLock:
                "the lock file LOCK cannot be used: is a link; expected a regular file; nothing can be stored"
            case .fifoAsLock: "the lock file LOCK cannot be used: is a FIFO; nothing can be stored"
            case .openLock:
                "the lock file LOCK cannot be used: is open to other users and has contents or a second name; expected an empty "
                    + "file with one name; nothing can be stored"
            case .folderAsLock: "the lock file LOCK cannot be used: is a folder; nothing can be stored"
            }
        }

        /// True if the former value is restored.
        var isRestored: Bool { self != .hugeWithoutCopy }
    }

    /// Contains characters that a shell interprets.
    private static let name = "it's $HOME `x` \"y\" \u{1B}.plist"

    private func make(_ problem: Problem, _ home: HarnessHome) throws {
        let file = home.folder.file(Self.name)
        let path = home.path(Self.name)
        try home.claim(Self.name)
        #expect(try home.prefs("set", "-f", path, "A.k", "42", "-t", "integer") == Printed())
        func hidden(_ ending: String) -> String { home.path(".\(Self.name).\(ending)") }
        func replace(by bytes: Data) throws { try home.write(bytes, to: Self.name) }
        switch problem {
        case .damaged:
            try replace(by: Data("no property list".utf8))
        case .damagedInXML:
            try replace(by: Data("<plist>\n<integer>7</integr></plist>\n".utf8))
        case .damagedBehindLink:
            try FileManager.default.createDirectory(at: home.folder.file("real"), withIntermediateDirectories: false)
            for name in [Self.name, ".\(Self.name).lastgood"] {
                try #require(rename(home.path(name), home.path("real/\(name)")) == 0)
            }
            try #require(symlink("real/\(Self.name)", path) == 0)
            try home.write(Data("no property list".utf8), to: "real/\(Self.name)")
        case .fifo:
            try #require(unlink(path) == 0)
            try #require(mkfifo(path, 0o600) == 0)
        case .folder:
            try #require(unlink(path) == 0)
            try #require(mkdir(path, 0o700) == 0)
        case .hugeWithoutCopy:
            try #require(unlink(hidden("lastgood")) == 0)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 1 << 33)
            try handle.close()
        case .badValues:
            let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
            try replace(
                by: Data(
                    """
                    <?xml version="1.0"?><plist><dict><key></key><dict><key>a</key><true/></dict><key>A</key><dict><key>k</key>
                    <integer>42</integer><key>--far</key><array>\(uid)</array></dict><key>odd</key>\(uid)</dict></plist>
                    """.utf8))
        case .leftOver:
            try home.write(Data("half".utf8), to: ".\(Self.name).tmp")
        case .linkedLock:
            try #require(unlink(hidden("lock")) == 0)
            try #require(symlink("/dev/null", hidden("lock")) == 0)
        case .fifoAsLock:
            try #require(unlink(hidden("lock")) == 0)
            try #require(mkfifo(hidden("lock"), 0o666) == 0)
        case .openLock:
            try home.write(Data("not a lock".utf8), to: ".\(Self.name).lock")
            chmod(hidden("lock"), 0o644)
        case .folderAsLock:
            try #require(unlink(hidden("lock")) == 0)
            try #require(mkdir(hidden("lock"), 0o777) == 0)
        }
    }

    @Test(arguments: Problem.allCases) func theSuggestedCommandMendsTheFile(problem: Problem) throws {
        let home = try HarnessHome()
        try make(problem, home)
        let path = home.path(Self.name)
        let before = try state(of: home)
        let (report, code) = try doctor(path, home)
        #expect(code == 1 && report["isHealthy"] as? Bool == false)
        let text = try home.prefs("doctor", "-f", path)
        #expect(text.code == 1 && text.errors == "" && !text.output.contains("\u{1B}"))
        #expect(try state(of: home) == before)
        let findings = try #require(report["findings"] as? [[String: Any]])
        let troubles = findings.filter { $0["isProblem"] as? Bool == true }
        #expect(troubles.count == 1)
        let reason = try #require(troubles.first?["reason"] as? String)
        #expect(
            reason
                == problem.reason.replacingOccurrences(of: "FILE", with: path)
                .replacingOccurrences(of: "TIME", with: lastGoodTime(report))
                .replacingOccurrences(of: "TEMPORARY", with: home.path(".\(Self.name).tmp"))
                .replacingOccurrences(of: "LOCK", with: home.path(".\(Self.name).lock")))
        let command = try #require(troubles.first?["command"] as? String)
        #expect(text.output.contains("  mend it: \(command)\n"))
        _ = try shell(command, home)
        #expect(try home.prefs("doctor", "-f", path).code == 0)
        #expect(try (home.prefs("get", "-f", path, "A.k") == Printed("42\n")) == problem.isRestored)
        #expect(try home.prefs("set", "-f", path, "A.k", "43", "-t", "integer") == Printed())
    }

    private func lastGoodTime(_ report: [String: Any]) -> String {
        (report["lastGood"] as? [String: Any])?["modified"] as? String ?? "no copy"
    }

    /// It may be a valid file of another program, so no command removes it.
    @Test func aFileThatIsNotSafeToReadIsLeftAlone() throws {
        let home = try HarnessHome()
        let path = home.path("x.plist")
        #expect(try home.prefs("set", "-f", path, "A.k", "v") == Printed())
        try home.write(Data([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0]), to: "x.plist")
        let (report, _) = try doctor(path, home)
        let findings = try #require(report["findings"] as? [[String: Any]])
        let reason = "expected UTF-8 or UTF-16, found UTF-32; it is not changed, and writes are rejected"
        #expect(findings.count == 1 && findings[0]["reason"] as? String == "the file is not safe to read: \(reason)")
        #expect(findings[0]["command"] is NSNull)
    }

    /// Entries that only other programs may store are accepted. Entries that prevent writes are reported, and no
    /// command deletes them.
    @Test func doctorReportsEntriesThatPreventWrites() throws {
        let home = try HarnessHome()
        let path = home.path("x.plist")
        let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
        try home.write(
            Data("<plist><dict><key>$top</key><dict><key>root</key>\(uid)</dict></dict></plist>".utf8), to: "x.plist")
        #expect(try home.prefs("doctor", "-f", path).code == 0)
        #expect(try home.prefs("get", path, "$top", "--json") == Printed("{\n  \"root\": {\"CF$UID\": 1}\n}\n"))
        #expect(try home.prefs("get", "--type", "-f", path, "$top.root") == Printed("keyed-archive reference\n"))
        for (entry, reason) in [
            (
                "<string>a\u{1}</string>",
                "x: the control character U+0001 cannot be stored in XML, so other programs may read it differently"
            ),
            (
                "<dict><key>\u{E9}</key><true/><key>e\u{301}</key><true/></dict>",
                "the keys \"\u{E9}\" (U+00E9) and \"e\u{301}\" (U+0065 U+0301) differ only in Unicode normalization, and a write "
                    + "would lose one of them, so writes are rejected"
            ),
        ] {
            try home.write(Data("<plist><dict><key>x</key>\(entry)</dict></plist>".utf8), to: "x.plist")
            let (report, code) = try doctor(path, home)
            let findings = try #require(report["findings"] as? [[String: Any]])
            #expect(code == 1 && findings.count == 1 && findings[0]["reason"] as? String == reason)
            #expect(findings[0]["command"] is NSNull)
        }
    }

    /// A typo in a file that a person maintains: the doctor names the line, and suggests no command that removes the
    /// file.
    @Test func doctorLeavesAFileThatIsNotOursToItsOwner() throws {
        let home = try HarnessHome()
        let path = home.path("x.plist")
        try home.write(Data("<plist><dict>\n<key>a</key>\n<integer>7x</integer>\n</dict></plist>".utf8), to: "x.plist")
        let before = try home.state()
        let (report, code) = try doctor(path, home)
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(
            code == 1 && report["state"] as? String == "notOurs" && report["line"] as? Int == 3 && findings.count == 1)
        #expect(
            (findings[0]["reason"] as? String)?.hasSuffix("if it is meant to be a property list, correct line 3")
                == true)
        #expect(findings[0]["command"] is NSNull)
        let mended = try home.prefs("doctor", "-f", path, "--mend")
        #expect(mended.code == 1 && mended.errors.hasSuffix("because this package did not write it\n"), "\(mended)")
        #expect(try home.state() == before)
    }

    @Test func mendingQuarantinesAndRestores() throws {
        let home = try HarnessHome()
        #expect(try home.prefs("doctor", "--mend") == Printed("nothing to mend\n"))
        try home.prefs("set", "int", "7")
        let healthy = try home.state()
        #expect(try home.prefs("doctor", "--mend") == Printed("nothing to mend\n"))
        #expect(try home.state() == healthy)
        let good = try Data(contentsOf: home.suiteFile)
        try home.write(Data("<plist>&</plist>".utf8), to: ".config/\(HarnessHome.suite).plist")
        let mended = try home.prefs("doctor", "--mend")
        let lines = mended.output.split(separator: "\n").map(String.init)
        let path = home.suiteFile.path(percentEncoded: false)
        #expect(lines.count == 3 && mended.code == 0 && mended.errors == "", "\(mended)")
        #expect(lines[0] == "\(path): line 1, column 8: text outside of a value")
        #expect(lines[1].hasPrefix("quarantined as \(path).corrupt-"))
        #expect(lines[2].hasPrefix("restored the last good copy of "))
        #expect(try Data(contentsOf: home.suiteFile) == good)
        #expect(try home.prefs("doctor", "--mend") == Printed("nothing to mend\n"))
        // A UserDefaults domain is damaged even if there is no last good copy.
        try home.write(Data(), to: ".config/\(HarnessHome.suite).plist")
        try FileManager.default.removeItem(at: home.folder.file(".config/.\(HarnessHome.suite).plist.lastgood"))
        let emptied = try home.prefs("doctor", "--mend")
        #expect(
            emptied.code == 0 && emptied.output.hasSuffix("there was no last good copy: nothing is stored now\n"),
            "\(emptied)")
        #expect(try home.prefs("get", "int", "--stored") == .failure("`int` is not set"))
    }

    @Test func doctorReportsAHealthyAndAMissingFile() throws {
        let home = try HarnessHome()
        let path = home.path("no/x.plist")
        let folder = home.path("no")
        #expect(
            try home.prefs("doctor", "-f", path)
                == Printed(
                    """
                    file       \(path)
                    state      there is no file: nothing was stored yet
                    folder     \(folder), which does not exist yet
                    lock       none yet: the first write creates it
                    last good  none

                    nothing needs mending

                    """))
        #expect(try home.folder.names().isEmpty)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let name = String(path.dropFirst(home.folder.path.count + 1))
        try home.claim(name)
        try home.prefs("set", "-f", path, "A.k", "v")
        let output = try home.prefs("doctor", "-f", path).output
        #expect(output.contains("\nstate        a binary property list, 1 root, 1 value\n"))
        #expect(output.contains("\npermissions  0600 ") && output.contains("; you may read and write it\n"))
        #expect(output.contains("\nlock         free\n") && output.contains(", the same as the file\n"))
        #expect(output.hasSuffix("\n\nnothing needs mending\n"))
        let (report, code) = try doctor(path, home)
        #expect(code == 0 && report["isHealthy"] as? Bool == true && report["state"] as? String == "whole")
        #expect((report["lock"] as? [String: Any])?["state"] as? String == "free")
        #expect((report["lastGood"] as? [String: Any])?["isEqual"] as? Bool == true)
        #expect(report["temporary"] is NSNull && (report["quarantined"] as? [Any])?.isEmpty == true)
    }

    @Test func aRemovedFileCanBeRestored() throws {
        let home = try HarnessHome()
        try home.prefs("set", "int", "7")
        try FileManager.default.removeItem(at: home.suiteFile)
        let (report, code) = try doctor(nil, home)
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(code == 0 && findings.count == 1 && findings[0]["isProblem"] as? Bool == false)
        let restored = try shell(#require(findings[0]["command"] as? String), home)
        #expect(restored.code == 0)
        // The write has kept the copy, and reports it.
        #expect(restored.errors.contains("was missing, and its last good copy was there; quarantined as "))
        #expect(restored.errors.hasSuffix("; only this write was stored\n"))
        #expect(try home.prefs("get", "int") == Printed("7\n"))
    }

    @Test func doctorListsQuarantinedFiles() throws {
        let home = try HarnessHome()
        let path = home.path("x.plist")
        #expect(try home.prefs("set", "-f", path, "A.k", "v") == Printed())
        try home.write(Data("no property list".utf8), to: "x.plist")
        #expect(try home.prefs("set", "-f", path, "A.k", "w", "--force").code == 0)
        let (report, code) = try doctor(path, home)
        let copies = try #require(report["quarantined"] as? [[String: Any]])
        #expect(code == 0 && copies.count == 1 && copies[0]["bytes"] as? Int == 16)
        #expect((copies[0]["path"] as? String)?.hasPrefix("\(path).corrupt-") == true)
    }

    @Test func doctorRejectsWordsThatNameNoDomain() throws {
        let home = try HarnessHome()
        #expect(
            try home.prefs("doctor", "-f", ".bad")
                == .failure("\".bad\" is not a valid suite name: it begins with a dot"))
    }

    // MARK: - Helpers

    private func doctor(_ path: String?, _ home: HarnessHome) throws -> (report: [String: Any], code: Int32) {
        let printed = try home.prefs(["doctor", "--json"] + (path.map { ["-f", $0] } ?? []))
        let report = try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any]
        return (try #require(report), printed.code)
    }

    /// Uses bash, because a name with a control character has no portable spelling.
    private func shell(_ command: String, _ home: HarnessHome) throws -> Printed {
        Printed(try Child(URL(filePath: "/bin/bash"), ["-c", command], environment: ["HOME": home.folder.path]).wait())
    }

    /// All names, and the contents of small files.
    private func state(of home: HarnessHome) throws -> [String: Data?] {
        let paths = FileManager.default.enumerator(atPath: home.folder.path)?.compactMap { $0 as? String } ?? []
        var state: [String: Data?] = [:]
        for path in paths {
            let facts = try FileManager.default.attributesOfItem(atPath: home.path(path))
            let isSmall = facts[.type] as? FileAttributeType == .typeRegular && (facts[.size] as? Int ?? 0) < 10_000
            state[path] = .some(isSmall ? try Data(contentsOf: home.folder.file(path)) : nil)
        }
        return state
    }
}
