import Foundation
import TestSupport
import Testing

/// `prefs doctor` explains problems and changes nothing. The commands that it suggests solve the problems.
@Suite final class HarnessDoctorTests: HarnessSuite {
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

    private func make(_ problem: Problem) throws {
        let file = home.folder.file(Self.name)
        let path = home.path(Self.name)
        try home.claim(Self.name)
        #expect(try prefs("set", "-f", path, "A.k", "42", "-t", "integer") == Printed())
        func hidden(_ ending: String) -> String { home.path(".\(Self.name).\(ending)") }
        switch problem {
        case .damaged:
            try home.write("no property list", to: Self.name)
        case .damagedInXML:
            try home.write("<plist>\n<integer>7</integr></plist>\n", to: Self.name)
        case .damagedBehindLink:
            try #require(mkdir(home.path("real"), 0o700) == 0)
            for name in [Self.name, ".\(Self.name).lastgood"] {
                try #require(rename(home.path(name), home.path("real/\(name)")) == 0)
            }
            try #require(symlink("real/\(Self.name)", path) == 0)
            try home.write("no property list", to: "real/\(Self.name)")
        case .fifo:
            try #require(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        case .folder:
            try #require(unlink(path) == 0 && mkdir(path, 0o700) == 0)
        case .hugeWithoutCopy:
            try #require(unlink(hidden("lastgood")) == 0)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 1 << 33)
            try handle.close()
        case .badValues:
            let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
            let text = """
                <?xml version="1.0"?><plist><dict><key></key><dict><key>a</key><true/></dict><key>A</key><dict><key>k</key>
                <integer>42</integer><key>--far</key><array>\(uid)</array></dict><key>odd</key>\(uid)</dict></plist>
                """
            try home.write(text, to: Self.name)
        case .leftOver:
            try home.write("half", to: ".\(Self.name).tmp")
        case .linkedLock:
            try #require(unlink(hidden("lock")) == 0 && symlink("/dev/null", hidden("lock")) == 0)
        case .fifoAsLock:
            try #require(unlink(hidden("lock")) == 0 && mkfifo(hidden("lock"), 0o666) == 0)
        case .openLock:
            try home.write("not a lock", to: ".\(Self.name).lock")
            chmod(hidden("lock"), 0o644)
        case .folderAsLock:
            try #require(unlink(hidden("lock")) == 0 && mkdir(hidden("lock"), 0o777) == 0)
        }
    }

    @Test(arguments: Problem.allCases) func theSuggestedCommandMendsTheFile(problem: Problem) throws {
        try make(problem)
        let path = home.path(Self.name)
        let before = try state()
        let report = try home.doctor(path)
        #expect(report.code == 1 && report.members["isHealthy"] as? Bool == false)
        let text = try prefs("doctor", "-f", path)
        #expect(text.code == 1 && text.errors == "" && !text.output.contains("\u{1B}"))
        #expect(try state() == before)
        let troubles = report.findings.filter { $0["isProblem"] as? Bool == true }
        #expect(troubles.count == 1)
        let time = (report.members["lastGood"] as? [String: Any])?["modified"] as? String ?? "no copy"
        let reason = problem.reason.replacing("FILE", with: path).replacing("TIME", with: time)
            .replacing("TEMPORARY", with: home.path(".\(Self.name).tmp"))
            .replacing("LOCK", with: home.path(".\(Self.name).lock"))
        #expect(troubles.first?["reason"] as? String == reason)
        let command = try #require(troubles.first?["command"] as? String)
        #expect(text.output.contains("  mend it: \(command)\n"))
        _ = try home.bash(command)
        #expect(try prefs("doctor", "-f", path).code == 0)
        #expect(try (prefs("get", "-f", path, "A.k") == Printed("42\n")) == problem.isRestored)
        #expect(try prefs("set", "-f", path, "A.k", "43", "-t", "integer") == Printed())
    }

    /// It may be a valid file of another program, so no command removes it.
    @Test func aFileThatIsNotSafeToReadIsLeftAlone() throws {
        let path = home.path("x.plist")
        #expect(try prefs("set", "-f", path, "A.k", "v") == Printed())
        try home.write(Data([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0]), to: "x.plist")
        let report = try home.doctor(path)
        let reason = "expected UTF-8 or UTF-16, found UTF-32; it is not changed, and writes are rejected"
        #expect(
            report.findings.count == 1
                && report.findings[0]["reason"] as? String == "the file is not safe to read: \(reason)")
        #expect(report.findings[0]["command"] is NSNull)
    }

    /// Entries that only other programs may store are accepted. Entries that prevent writes are reported, and no
    /// command deletes them.
    @Test func doctorReportsEntriesThatPreventWrites() throws {
        let path = home.path("x.plist")
        let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
        try home.write(
            "<plist><dict><key>$top</key><dict><key>root</key>\(uid)</dict></dict></plist>", to: "x.plist")
        #expect(try prefs("doctor", "-f", path).code == 0)
        #expect(try prefs("get", path, "$top", "--json") == Printed("{\n  \"root\": {\"CF$UID\": 1}\n}\n"))
        #expect(try prefs("get", "--type", "-f", path, "$top.root") == Printed("keyed-archive reference\n"))
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
            try home.write("<plist><dict><key>x</key>\(entry)</dict></plist>", to: "x.plist")
            let report = try home.doctor(path)
            #expect(report.code == 1 && report.findings.count == 1 && report.findings[0]["reason"] as? String == reason)
            #expect(report.findings[0]["command"] is NSNull)
        }
    }

    /// A typo in a file that a person maintains: the doctor names the line, and suggests no command that removes the
    /// file.
    @Test func doctorLeavesAFileThatIsNotOursToItsOwner() throws {
        let path = home.path("x.plist")
        try home.write("<plist><dict>\n<key>a</key>\n<integer>7x</integer>\n</dict></plist>", to: "x.plist")
        let before = try home.state()
        let report = try home.doctor(path)
        #expect(report.code == 1 && report.findings.count == 1)
        #expect(report.members["state"] as? String == "notOurs" && report.members["line"] as? Int == 3)
        let remedy = "if it is meant to be a property list, correct line 3"
        #expect((report.findings[0]["reason"] as? String)?.hasSuffix(remedy) == true)
        #expect(report.findings[0]["command"] is NSNull)
        let mended = try prefs("doctor", "-f", path, "--mend")
        #expect(mended.code == 1 && mended.errors.hasSuffix("because this package did not write it\n"), "\(mended)")
        #expect(try home.state() == before)
    }

    @Test func mendingQuarantinesAndRestores() throws {
        #expect(try prefs("doctor", "--mend") == Printed("nothing to mend\n"))
        try prefs("set", "int", "7")
        let healthy = try home.state()
        #expect(try prefs("doctor", "--mend") == Printed("nothing to mend\n"))
        #expect(try home.state() == healthy)
        let good = try Data(contentsOf: home.suiteFile)
        try home.write("<plist>&</plist>", to: ".config/\(HarnessHome.suite).plist")
        let mended = try prefs("doctor", "--mend")
        let lines = mended.output.split(separator: "\n").map(String.init)
        let path = home.suiteFile.path(percentEncoded: false)
        #expect(lines.count == 3 && mended.code == 0 && mended.errors == "", "\(mended)")
        #expect(lines[0] == "\(path): line 1, column 8: text outside of a value")
        #expect(lines[1].hasPrefix("quarantined as \(path).corrupt-"))
        #expect(lines[2].hasPrefix("restored the last good copy of "))
        #expect(try Data(contentsOf: home.suiteFile) == good)
        #expect(try prefs("doctor", "--mend") == Printed("nothing to mend\n"))
        // A UserDefaults domain is damaged even if there is no last good copy.
        try home.write(Data(), to: ".config/\(HarnessHome.suite).plist")
        try FileManager.default.removeItem(at: home.folder.file(".config/.\(HarnessHome.suite).plist.lastgood"))
        let emptied = try prefs("doctor", "--mend")
        let end = "there was no last good copy: nothing is stored now\n"
        #expect(emptied.code == 0 && emptied.output.hasSuffix(end), "\(emptied)")
        #expect(try prefs("get", "int", "--stored") == .failure("`int` is not set"))
    }

    @Test func doctorReportsAHealthyAndAMissingFile() throws {
        let (folder, path) = (home.path("no"), home.path("no/x.plist"))
        let expected = """
            file       \(path)
            state      there is no file: nothing was stored yet
            folder     \(folder), which does not exist yet
            lock       none yet: the first write creates it
            last good  none

            nothing needs mending

            """
        #expect(try prefs("doctor", "-f", path) == Printed(expected))
        #expect(try home.folder.names().isEmpty)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try home.claim("no/x.plist")
        try prefs("set", "-f", path, "A.k", "v")
        let output = try prefs("doctor", "-f", path).output
        #expect(output.contains("\nstate        a binary property list, 1 root, 1 value\n"))
        #expect(output.contains("\npermissions  0600 ") && output.contains("; you may read and write it\n"))
        #expect(output.contains("\nlock         free\n") && output.contains(", the same as the file\n"))
        #expect(output.hasSuffix("\n\nnothing needs mending\n"))
        let report = try home.doctor(path)
        #expect(
            report.code == 0 && report.members["isHealthy"] as? Bool == true
                && report.members["state"] as? String == "whole")
        #expect(report.lock?["state"] as? String == "free")
        #expect((report.members["lastGood"] as? [String: Any])?["isEqual"] as? Bool == true)
        #expect(report.members["temporary"] is NSNull && (report.members["quarantined"] as? [Any])?.isEmpty == true)
    }

    @Test func aRemovedFileCanBeRestored() throws {
        try prefs("set", "int", "7")
        try FileManager.default.removeItem(at: home.suiteFile)
        let report = try home.doctor()
        #expect(report.code == 0 && report.findings.count == 1 && report.findings[0]["isProblem"] as? Bool == false)
        let restored = try home.bash(#require(report.findings[0]["command"] as? String))
        #expect(restored.code == 0)
        // The write has kept the copy, and reports it.
        #expect(restored.errors.contains("was missing, and its last good copy was there; quarantined as "))
        #expect(restored.errors.hasSuffix("; only this write was stored\n"))
        #expect(try prefs("get", "int") == Printed("7\n"))
    }

    @Test func doctorListsQuarantinedFiles() throws {
        let path = home.path("x.plist")
        #expect(try prefs("set", "-f", path, "A.k", "v") == Printed())
        try home.write("no property list", to: "x.plist")
        #expect(try prefs("set", "-f", path, "A.k", "w", "--force").code == 0)
        let report = try home.doctor(path)
        let copies = try #require(report.members["quarantined"] as? [[String: Any]])
        #expect(report.code == 0 && copies.count == 1 && copies[0]["bytes"] as? Int == 16)
        #expect((copies[0]["path"] as? String)?.hasPrefix("\(path).corrupt-") == true)
    }

    /// All names, and the contents of small files.
    private func state() throws -> [String: Data?] {
        let paths = FileManager.default.enumerator(atPath: home.folder.path)?.compactMap { $0 as? String } ?? []
        var state: [String: Data?] = [:]
        for path in paths {
            let facts = try FileManager.default.attributesOfItem(atPath: home.path(path))
            let isSmall = facts[.type] as? FileAttributeType == .typeRegular && (facts[.size] as? Int ?? 0) < 10_000
            state[path] = .some(isSmall ? try home.bytes(path) : nil)
        }
        return state
    }
}
