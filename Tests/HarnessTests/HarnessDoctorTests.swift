import Foundation
import TestSupport
import Testing

/// `prefs doctor` explains problems and changes nothing. The commands that it suggests solve the problems.
@Suite(.waits) final class HarnessDoctorTests: HarnessSuite {
    /// Contains characters that a shell interprets.
    private static let name = "it's $HOME `x` \"y\" \u{1B}.plist"

    /// Scripts that make a problem of the file `$F`, whose lock file is `$L`, and the reported reasons, with placeholders
    /// for paths.
    private static let problems: [(script: String, reason: String)] = [
        (
            #"echo no list > "$F""#,
            "the file is damaged: is neither a binary nor an XML property list; the command \(restoration)"
        ),
        (
            #"mkdir real; mv "$F" ".$F.lastgood" real; ln -s "real/$F" "$F"; echo no list > "$F""#,
            "the file is damaged: is neither a binary nor an XML property list; the command \(restoration)"
        ),
        (
            #"printf '<plist>\n<integer>7</integr></plist>\n' > "$F""#,
            "the file is damaged: line 2, column 11: expected </integer>, found </integr>; correct line 2, or run the "
                + "command, which \(restoration)"
        ),
        (#"rm "$F"; mkfifo "$F""#, "FILE cannot be read: is a FIFO"),
        (#"rm "$F"; mkdir "$F""#, "FILE cannot be read: is a folder"),
        (#"rm ".$F.lastgood"; truncate -s 8G "$F""#, "FILE cannot be read: larger than 256 MiB"),
        (
            #"printf %s '<plist><dict><key></key><dict><key>a</key><true/></dict><key>A</key><dict><key>k</key>'"#
                + " '<integer>42</integer><key>--far</key><array>\(uid)</array></dict><key>odd</key>\(uid)</dict></plist>'"
                + #" > "$F""#, #""": is not a valid root key: it is empty"#
        ),
        (#"echo half > ".$F.tmp""#, "a killed writer left TEMPORARY; the next write removes it"),
        blocked(#"ln -sf /dev/null "$L""#, "is a link; expected a regular file; remove the link"),
        blocked(#"rm "$L"; mkfifo -m 666 "$L""#, "is a FIFO"), blocked(#"rm "$L"; mkdir -m 777 "$L""#, "is a folder"),
        blocked(
            #"echo not a lock > "$L"; chmod 644 "$L""#,
            "is open to other users and has contents or a second name; expected an empty file with one name"),
    ]
    private static let restoration = "quarantines the file and restores the last good copy of TIME"
    private static let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"

    private static func blocked(_ script: String, _ reason: String) -> (String, String) {
        (script, "the lock file LOCK cannot be used: \(reason); nothing can be stored")
    }

    @Test(arguments: problems) func theSuggestedCommandMendsTheFile(script: String, reason: String) throws {
        let path = home.path(Self.name)
        try home.claim(Self.name)
        #expect(try prefs("set", "-f", path, "A.k", "42", "-t", "integer") == Printed())
        let (temporary, lock) = (".\(Self.name).tmp", ".\(Self.name).lock")
        // The write of another program has ended.
        #expect(try home.bash("\(script)\ntouch -d '1 hour ago' \"$F\"", ["F": Self.name, "L": lock]) == Printed())
        let before = try home.state()
        let report = try home.doctor(path)
        #expect(report.code == 1 && report.members["isHealthy"] as? Bool == false)
        let text = try prefs("doctor", "-f", path)
        #expect(text.code == 1 && text.errors == "" && !text.output.contains("\u{1B}"))
        #expect(try home.state() == before)
        let troubles = report.findings.filter { $0["isProblem"] as? Bool == true }
        #expect(troubles.count == 1)
        let time = (report.members["lastGood"] as? [String: Any])?["modified"] as? String ?? "no copy"
        let reason = reason.replacing("FILE", with: path).replacing("TIME", with: time)
            .replacing("TEMPORARY", with: home.path(temporary)).replacing("LOCK", with: home.path(lock))
        #expect(troubles.first?["reason"] as? String == reason)
        let command = try #require(troubles.first?["command"] as? String)
        #expect(text.output.contains("  mend it: \(command)\n"))
        _ = try home.bash(command)
        #expect(try prefs("doctor", "-f", path).code == 0)
        let isRestored = !script.contains("truncate")
        #expect(try (prefs("get", "-f", path, "A.k") == Printed("42\n")) == isRestored)
        #expect(try prefs("set", "-f", path, "A.k", "43", "-t", "integer") == Printed())
    }

    /// `HarnessContentTests` has entries that prevent writes.
    @Test func entriesThatOnlyOtherProgramsMayStoreAreAccepted() throws {
        let path = home.path("x.plist")
        try home.write(
            "<plist><dict><key>$top</key><dict><key>root</key>\(Self.uid)</dict></dict></plist>", to: "x.plist")
        #expect(try prefs("doctor", "-f", path).code == 0)
        #expect(try prefs("get", path, "$top", "--json") == Printed("{\n  \"root\": {\"CF$UID\": 1}\n}\n"))
        #expect(try prefs("get", "--type", "-f", path, "$top.root") == Printed("keyed-archive reference\n"))
    }

    /// A typo in a file that a person maintains: the doctor names the line, and suggests no command that removes the
    /// file.
    @Test(arguments: [
        ("x.plist", "<plist><dict>\n<key>a</key>\n<integer>7x</integer>\n</dict></plist>", 3, "a property list"),
        ("x.json", "{\n  \"R\": {\"k\": 4}, # mine\n}\n", 2, "JSON"),
    ])
    func doctorLeavesAFileThatIsNotOursToItsOwner(name: String, text: String, line: Int, format: String) throws {
        let path = home.path(name)
        try home.write(text, to: name)
        let before = try home.state()
        let report = try home.doctor(path)
        #expect(report.code == 1 && report.findings.count == 1)
        #expect(report.members["state"] as? String == "notOurs" && report.members["line"] as? Int == line)
        let remedy = "if it is meant to be \(format), correct line \(line)"
        #expect((report.findings[0]["reason"] as? String)?.hasSuffix(remedy) == true)
        #expect(report.findings[0]["command"] is NSNull)
        let mended = try prefs("doctor", "-f", path, "--mend")
        let advice = "; there is no last good copy to restore, so correct the file; nothing has changed\n"
        #expect(mended.code == 1 && mended.errors.hasSuffix(advice), "\(mended)")
        #expect(try home.state() == before)
        // A writer that was killed left a file before the typo was made. No write may remove it now.
        try home.write("{", to: ".\(name).tmp")
        #expect(try home.doctor(path).findings.count == 1)
        #expect(try prefs("doctor", "-f", path, "--mend") == mended)
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
        try home.write(Data("x".utf8), to: ".config/\(HarnessHome.suite).plist")
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
            lock       none: the first write of a program that uses this package creates it
            last good  none

            nothing needs mending

            """
        #expect(try prefs("doctor", "-f", path) == Printed(expected))
        #expect(try home.folder.names().isEmpty)
        // A blank file is empty for every access.
        let blank = try home.write(" \n", to: "blank.json").path
        let printed = try prefs("doctor", "-f", blank)
        #expect(printed.output.contains("\nstate        the file is empty: nothing was stored yet\n"), "\(printed)")
        #expect(printed.output.hasSuffix("\n\nnothing needs mending\n"))
        #expect(try prefs("set", "-f", blank, "a", "1") == Printed())
        try FileManager.default.removeItem(atPath: blank)
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
        #expect(copies[0]["isWhole"] as? Bool == false && report.findings.isEmpty)
    }

    /// Each of several whole ones, beside a copy that is not usable.
    @Test func everyIntactQuarantinedFileIsNamed() throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        #expect(try prefs("set", "-f", path, "A.k", "v") == Printed())
        let copies = (1...3).map { "\(path).corrupt-2026010\($0)T000000Z-7" }
        for (number, copy) in copies.enumerated() {
            let content = number == 1 ? Data("no list".utf8) : try home.bytes("x.plist")
            try content.write(to: URL(filePath: copy))
        }
        try home.write("half", to: ".x.plist.lastgood")
        let report = try home.doctor(path)
        let entries = report.members["quarantined"] as? [[String: Any]] ?? []
        #expect(
            entries.map { $0["path"] as? String } == copies
                && entries.map { $0["isWhole"] as? Bool } == [true, false, true])
        let findings = report.findings
        let reasons = findings.compactMap { $0["reason"] as? String }
        #expect(reasons.first?.hasPrefix("the last good copy is not usable: ") == true)
        #expect(reasons.dropFirst() == [0, 2].map { "\(copies[$0]) was quarantined and is intact" }[...])
        let commands = findings.dropFirst().compactMap { $0["command"] as? String }
        #expect(zip(commands, [0, 2]).allSatisfy { $0.hasSuffix(copies[$1]) } && commands.count == 2, "\(commands)")
        let lines = try prefs("doctor", "-f", path).output.split(separator: "\n")
        let listed = lines.filter { $0.hasPrefix("quarantined") }
        #expect(listed.count == 3)
        for copy in copies { #expect(listed.contains { $0.contains(copy) }) }
    }

    /// Both are told: what was restored, and what was removed.
    @Test func mendingTellsOfTheDamageAndOfWhatAKilledWriterLeft() throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        #expect(try prefs("set", "-f", path, "A.k", "v") == Printed())
        try home.write("no list", to: "x.plist")
        try home.write("half", to: ".x.plist.tmp")
        #expect(try home.bash("touch -d '1 hour ago' x.plist .x.plist.tmp") == Printed())
        let lines = try prefs("doctor", "-f", path, "--mend").output.split(separator: "\n")
        #expect(lines.count == 4, "\(lines)")
        #expect(lines.dropFirst().first?.hasPrefix("quarantined as \(path).corrupt-") == true)
        #expect(lines.last == "removed \(home.path(".x.plist.tmp")), left by a killed writer")
    }

    /// The name of the copy is a free one, and one copy is made however many values are removed.
    @Test func twoValuesAreRemovedAfterOneCopy() throws {
        let path = home.path("x.plist")
        let bad = (0..<2).map { "<key>A\($0)</key><dict><key>far</key>\(Self.deep)</dict>" }.joined()
        try home.write("<plist><dict>\(bad)</dict></plist>", to: "x.plist")
        for name in ["x.plist.copy", "x.plist.copy-2"] { try home.write("mine", to: name) }
        let commands = try home.doctor(path).findings.compactMap { $0["command"] as? String }
        #expect(commands.count == 2)
        #expect(commands.first?.hasPrefix("cp -p \(path) \(path).copy-3 && ") == true, "\(commands)")
        #expect(commands.last?.contains("cp -p") == false)
        for command in commands { _ = try home.bash(command) }
        #expect(try prefs("doctor", "-f", path).code == 0)
        #expect(try home.bytes("x.plist.copy") == Data("mine".utf8))
    }

    /// The removal of a root takes its values along. Of other values, each fault is told.
    @Test func aValueInARemovedRootIsNotRemoved() throws {
        let path = home.path("x.plist")
        let far = "<dict><key>far</key>\(Self.deep)<key>farther</key>\(Self.deep)</dict>"
        try home.write(
            "<plist><dict><key></key>\(far)<key>A</key><dict><key>k</key>\(far)</dict></dict></plist>", to: "x.plist")
        let report = try home.doctor(path)
        let paths = report.findings.compactMap { ($0["reason"] as? String)?.split(separator: "[")[0] }
        #expect(
            paths.sorted() == [
                #""": is not a valid root key: it is empty"#, ".far", ".farther", "A.k.far", "A.k.farther",
            ])
        #expect(
            report.commands.count == 2 && report.commands[0].hasSuffix(" ''") && report.commands[1].hasSuffix(" A.k"))
    }

    @Test(arguments: [
        (#"{"A": {"x": 1, "y": 2}, "B": {"z": 3}, "C": {}}"#, "JSON, 3 roots, 3 values", 3, 3),
        (#"{"A": {"x": 1}, "b": 2, "c": 3}"#, "JSON, 3 entries", 1, 1),
    ]) func theSummaryCountsEverything(text: String, summary: String, roots: Int, values: Int) throws {
        let path = try home.write(text, to: "x.json").path
        #expect(try prefs("doctor", "-f", path).output.contains("  \(summary)\n"))
        let members = try home.doctor(path).members
        #expect(members["roots"] as? Int == roots && members["values"] as? Int == values)
    }

    /// What a killed writer left is removed, and a value that cannot be stored again stays.
    @Test func mendingTellsWhatRemains() throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        try home.write("<plist><dict><key>A</key><dict><key>far</key>\(Self.deep)</dict></dict></plist>", to: "x.plist")
        func mend(_ options: String...) throws -> Printed {
            try home.write("half", to: ".x.plist.tmp")
            #expect(try home.bash("touch -d '1 hour ago' x.plist .x.plist.tmp") == Printed())
            return try prefs(["doctor", "-f", path, "--mend"] + options)
        }
        let mended = try mend()
        let lines = mended.output.split(separator: "\n")
        #expect(mended.code == 1 && lines.count == 2, "\(mended)")
        #expect(lines.first == "removed \(home.path(".x.plist.tmp")), left by a killed writer")
        #expect(lines.last?.hasPrefix("problem remains: A.far[") == true)
        let json = try mend("--json")
        let members = try json.object()
        #expect(json.code == 1 && (members["done"] as? [String])?.count == 1)
        #expect((members["remainingProblems"] as? [String])?.first?.hasPrefix("A.far[") == true)
    }

    private static let deep = String(repeating: "<array>", count: 65) + String(repeating: "</array>", count: 65)

    /// The copy is one of a store with another format, so this package has not written the file.
    @Test func aCopyInJSONIsNotThatOfAPropertyList() throws {
        try home.claim("a.json")
        #expect(try prefs("set", "-f", home.path("a.json"), "a=1") == Printed())
        for (name, state) in [("b.json", "damaged"), ("b.plist", "notOurs")] {
            try home.claim(name)
            try home.write("no list", to: name)
            #expect(try home.bash("cp -p .a.json.lastgood .\(name).lastgood") == Printed())
            #expect(try home.doctor(home.path(name)).members["state"] as? String == state)
        }
    }

    /// It has the length of the file, and other bytes.
    @Test func aLinkAndAnOlderCopyAreShown() throws {
        let (path, link) = (home.path("x.json"), home.path("link.json"))
        try home.claim("x.json")
        #expect(try prefs("set", "-f", path, "a=1") == Printed())
        #expect(try home.doctor(path).members["leadsTo"] as? String == path)
        try home.write(home.text("x.json").replacing("1", with: "2"), to: "x.json")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "x.json")
        let output = try prefs("doctor", "-f", link).output
        #expect(output.contains(/file +\S*link\.json\nleads to +\S*\/x\.json\n/), "\(output)")
        #expect(output.contains(", older than the file\n"))
        let members = try home.doctor(link).members
        #expect(members["file"] as? String == link && members["leadsTo"] as? String == path)
        #expect((members["lastGood"] as? [String: Any])?["isEqual"] as? Bool == false)
    }

    /// A FIFO can be moved away, to a name that is free. No command mends the others.
    @Test(arguments: [
        ("plain/x.plist", "HOME/plain is not a folder", nil),
        ("/dev/zero", "/dev/zero cannot be read: is a device", nil),
        ("fifo.plist", "HOME/fifo.plist cannot be read: is a FIFO", "mv HOME/fifo.plist HOME/fifo.plist.moved-2"),
    ]) func whatIsInPlaceOfAFileIsTold(path: String, reason: String, command: String?) throws {
        func text(_ pattern: String) -> String { pattern.replacing("HOME", with: home.folder.path) }
        for name in ["plain", "fifo.plist.moved"] { try home.write("mine", to: name) }
        #expect(mkfifo(home.path("fifo.plist"), 0o600) == 0)
        let report = try home.doctor(path.hasPrefix("/") ? path : home.path(path))
        #expect(report.code == 1 && report.findings.first?["reason"] as? String == text(reason), "\(report.findings)")
        #expect(report.commands == [command.map(text)].compactMap { $0 })
    }

    @Test func anEmptiedFileIsRestoredAndNotQuarantined() throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        #expect(try prefs("set", "-f", path, "A.k", "v") == Printed())
        try home.write("", to: "x.plist")
        let report = try home.doctor(path)
        let reason = report.findings.first?["reason"] as? String ?? ""
        #expect(reason.contains("the command restores the last good copy of "), "\(reason)")
        _ = try home.bash(#require(report.commands.first))
        #expect(try prefs("get", "-f", path, "A.k") == Printed("v\n"))
        // The copy that was restored.
        #expect(try home.folder.names().filter { $0.contains("corrupt") } == ["x.plist.corrupt-missing"])
    }

    /// A file may have values at its top.
    @Test func aValueAtTheTopIsLookedAt() throws {
        let path = home.path("x.plist")
        try home.write("<plist><dict><key>far</key>\(Self.deep)<key>k</key><true/></dict></plist>", to: "x.plist")
        let report = try home.doctor(path)
        #expect(report.code == 1 && report.commands.count == 1)
        _ = try home.bash(#require(report.commands.first))
        #expect(try prefs("doctor", "-f", path).code == 0 && prefs("get", "-f", path, "k") == Printed("true\n"))
    }

    /// A copy that is not usable is no remedy.
    @Test(arguments: [
        ("echo no list > x.plist", "; the command quarantines the file; there is no last good copy to restore"),
        ("rm x.plist; mkfifo x.plist", "/x.plist cannot be read: is a FIFO"),
        ("rm x.plist", "; the next write replaces it"),
    ]) func nothingIsRestoredFromGarbage(script: String, end: String) throws {
        let path = home.path("x.plist")
        try home.claim("x.plist")
        try prefs("set", "-f", path, "A.k", "v")
        let age = "touch -cd '1 hour ago' . x.plist .x.plist.lastgood"
        #expect(try home.bash("\(script); echo half > .x.plist.lastgood; \(age)") == Printed())
        let report = try home.doctor(path)
        #expect((report.findings.first?["reason"] as? String)?.hasSuffix(end) == true, "\(report.findings)")
        #expect(!report.commands.contains { $0.contains("lastgood") })
        let note = report.findings.last?["reason"] as? String
        #expect(note?.hasPrefix("the last good copy is not usable: ") == true)
    }
}
