import Foundation
import PrefsFileEngine
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsTool

/// `prefs undo`.
@Suite(.waits) final class HarnessUndoTests: HarnessSuite {
    /// Writes of every kind to a file that exists. `FILE` is its path.
    static let writes: [[String]] = [
        ["set", "-f", "FILE", "R.k", "new"], ["set", "-f", "FILE", "PrefsTestSet.Integer Value", "+1"],
        ["unset", "-f", "FILE", "R", "--force"], ["unset", "-f", "FILE", "--all", "--force"],
        ["import", "-f", "FILE", "HOME/i.json"], ["import", "-f", "FILE", "HOME/i.json", "--replace"],
        ["set", "-f", "FILE", "--root", "PrefsTestSet", "int", "5"],
        ["unset", "-f", "FILE", "--root", "PrefsTestSet", "int"],
        ["unset", "-f", "FILE", "--root", "PrefsTestSet", "--all"],
        ["cp", "-f", "FILE", "R.k", "R.l"], ["mv", "FILE:R.k", "FILE:k"],
    ]

    @Test(arguments: writes, [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func anUndoRestoresTheBytes(words: [String], format: PropertyListSerialization.PropertyListFormat) throws {
        let content: [String: Any] = ["R": ["k": "old"], "PrefsTestSet": ["Integer Value": 7]]
        let file = try home.write(content, to: "d.plist", format: format).path(percentEncoded: false)
        try home.write(#"{"R": {"l": 2}}"#, to: "i.json")
        try home.claim("d.plist")
        func bytes() throws -> Data { try home.bytes("d.plist") }
        let before = try bytes()
        let words = words.map { $0.replacing("HOME", with: home.folder.path).replacing("FILE", with: file) }
        #expect(try prefs(words) == Printed())
        let after = try bytes()
        #expect(after != before)
        let state = try home.state()
        let shown = try prefs("undo", "-f", file, "--dry-run")
        #expect(shown.code == 0 && !shown.output.isEmpty && shown.output != "nothing would change\n")
        #expect(try home.state() == state)
        #expect(try prefs("undo", "-f", file) == shown, "it prints what it changes")
        #expect(try bytes() == before)
        // The last good copy has the restored state.
        #expect(try home.bytes(".d.plist.lastgood").suffix(before.count) == before)
    }

    private var records: UndoFolder {
        var program = AppPrefs.program
        program.context = ProcessContext(
            executable: "prefs", environment: ["HOME": home.folder.path], input: 0, output: 1, errors: 2)
        return UndoFolder(of: program)
    }

    /// Random states and parts. Most have bytes in common at both ends.
    @Test(arguments: 0..<100) func aWriteInPartsIsReverted(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        func bytes() -> Data { Data((0..<Int.random(in: 0...20, using: &random)).map { _ in .random(in: 0...1) }) }
        let (start, end) = (bytes(), bytes())
        let (before, after) = (start + bytes() + end, start + bytes() + end)
        let cuts = (0..<2).map { _ in 8 * Int.random(in: 0...(after.count / 8), using: &random) }.sorted()
        let parts = [after[..<cuts[0]], after[cuts[0]..<cuts[1]], after[cuts[1]...]]
        let path = home.path("x.plist")
        try records.save(FileReplacement(path: path, before: before, after: FileBytes(parts)))
        #expect(try records.replacement(of: path, current: after)?.before == before)
    }

    /// Of large states, only the newest is kept, also if it alone is larger than the limit.
    @Test func aRecordHasALimitedSize() throws {
        let (folder, path) = (records, home.path("x.plist"))
        let states = (0...2).map { Data(repeating: UInt8($0), count: 9 << 20) }
        for (before, after) in zip(states, states.dropFirst()) {
            try folder.save(FileReplacement(path: path, before: before, after: FileBytes(after)))
        }
        let newest = try #require(try folder.replacement(of: path, current: states[2]))
        #expect(newest.before == states[1])
        try folder.removeNewest(newest)
        #expect(try folder.replacement(of: path, current: states[1]) == nil)
        let large = Data(repeating: 7, count: 17 << 20)
        try folder.save(FileReplacement(path: path, before: large, after: FileBytes(states[2])))
        #expect(try folder.replacement(of: path, current: states[2])?.before == large)
    }

    /// The long parts of a large text are written from the bytes that were read. One of them ends at the limit of file
    /// sizes, behind which a write would end the program.
    @Test func aLargeTextIsChangedAndReverted() throws {
        func text(_ number: Int) -> String {
            let long = String(repeating: "x", count: (2 << 20) - #"{"a": """#.utf8.count)
            return #"{"a": "\#(long)", "n": \#(number), "b": "\#(long)"}"#
        }
        try home.write(text(1), to: "l.json")
        let file = home.path("l.json")
        let reason = "write: File too large; raise the limit of file sizes (ulimit -f); the stored state is unchanged"
        #expect(try home.bash("ulimit -f 2048; prefs set -f l.json n 2") == .failure("\(file): \(reason)"))
        #expect(try home.bytes("l.json") == Data(text(1).utf8))
        #expect(try prefs("set", "-f", file, "n", "2") == Printed())
        #expect(try home.bytes("l.json") == Data(text(2).utf8))
        let records = home.path(".local/state/prefs/undo")
        let names = try FileManager.default.contentsOfDirectory(atPath: records)
        #expect(try names.map { try home.bytes(".local/state/prefs/undo/\($0)").count < 1_000 } == [true])
        #expect(try prefs("undo", "-f", file) == Printed("~ n: 2 → 1\n"))
        #expect(try home.bytes("l.json") == Data(text(1).utf8))
    }

    @Test func tenWritesAreReverted() throws {
        let file = home.path("d.json")
        for number in 0...11 { try prefs("set", "-f", file, "n", "\(number)") }
        for number in (2...11).reversed() {
            #expect(try prefs("undo", "-f", file) == Printed("~ n: \(number) → \(number - 1)\n"))
        }
        #expect(try prefs("undo", "-f", file) == .failure("nothing to undo: no write of yours to \(file) is left"))
        // A write after an undo is the newest one.
        try prefs("set", "-f", file, "n=5")
        try prefs("set", "-f", file, "n=6")
        #expect(try prefs("undo", "-f", file) == Printed("~ n: 6 → 5\n"))
        try prefs("set", "-f", file, "n=7")
        #expect(try prefs("undo", "-f", file) == Printed("~ n: 7 → 5\n"))
        #expect(try prefs("undo", "-f", file) == Printed("~ n: 5 → 1\n"))
        // What was before the write of another program is out of reach.
        try prefs("set", "-f", file, "n=8")
        try home.write("{\"n\": 9}", to: "d.json")
        try prefs("set", "-f", file, "n=10")
        #expect(try prefs("undo", "-f", file) == Printed("~ n: 10 → 9\n"))
        #expect(try prefs("undo", "-f", file).code == 1)
    }

    /// A person may install a new version between a write and its undo.
    @Test func aRecordOfAFormerVersionIsRead() throws {
        let file = home.path("d.json")
        try prefs("set", "-f", file, "n", "3")
        let folder = home.path(".local/state/prefs/undo")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let states = [nil, #"{"n": 1}"#, #"{"n": 2}"#].map { $0.map { Data($0.utf8) } }
        let former: [String: Any] = [
            "path": try SidecarPaths(path: file).file, "before": states.map { $0.map { [$0] } ?? [] },
            "after": try home.bytes("d.json"),
        ]
        try PropertyListSerialization.data(fromPropertyList: former, format: .binary, options: 0)
            .write(to: URL(filePath: "\(folder)/\(name)"))
        try prefs("set", "-f", file, "n", "4")
        for number in (1...3).reversed() {
            #expect(try prefs("undo", "-f", file) == Printed("~ n: \(number + 1) → \(number)\n"))
        }
        #expect(try prefs("undo", "-f", file) == Printed("- n: 1\n"))
        #expect(try !home.folder.names().contains("d.json"))
        #expect(try prefs("undo", "-f", file) == .failure("nothing to undo: no write of yours to \(file) is left"))
    }

    /// A record with the bytes of many large files would fill the disk.
    @Test func oldRecordsAreRemoved() throws {
        let folder = home.path(".local/state/prefs/undo")
        for number in 0..<52 { try prefs("set", "-f", home.path("\(number).json"), "n", "1") }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).map { $0.prefix { $0 != "." } }
        #expect(left.compactMap { Int($0) }.sorted() == Array(2..<52))
        let text = String(repeating: "x", count: 7 << 20)
        for number in 0..<4 {
            try home.write("\(number)\(text)", to: "value")
            try prefs("set", "-f", home.path("51.json"), "n", "--from", home.path("value"), "-t", "string")
        }
        let record = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasPrefix("51.json") })
        #expect(try Data(contentsOf: URL(filePath: "\(folder)/\(record)")).count < 24 << 20)
        #expect(try prefs("undo", "-f", home.path("51.json")).code == 0)
    }

    /// An export lays out the text of the file again.
    @Test func anUndoThatChangesNoValueSaysSo() throws {
        let bytes = Data(#"{"a":1}"#.utf8)
        let file = try home.write(bytes, to: "d.json").path
        #expect(try prefs("export", "-f", file, "-o", file, "--force") == Printed())
        #expect(try home.bytes("d.json") != bytes)
        let shown = Printed("no value changes, only the text of the file\n")
        #expect(try prefs("undo", "-f", file, "--dry-run") == shown)
        #expect(try prefs("undo", "-f", file, "--dry-run", "--json") == Printed("[]\n"))
        #expect(try prefs("undo", "-f", file) == shown)
        #expect(try home.bytes("d.json") == bytes)
    }

    @Test(arguments: ["d.plist", "d.json"]) func theUndoOfTheFirstWriteRemovesTheFile(name: String) throws {
        let file = home.path(name)
        try prefs("set", "-f", file, "R.k", "v")
        #expect(try prefs("undo", "-f", file, "--dry-run") == Printed("- R: {\"k\":\"v\"}\n"))
        #expect(try prefs("undo", "-f", file) == Printed("- R: {\"k\":\"v\"}\n"))
        #expect(try home.folder.names().filter { $0.contains(name) } == [])
    }

    @Test func theDomainOfTheProgramIsTheDefault() throws {
        try prefs("set", "int", "5")
        try prefs("set", "int", "6")
        #expect(try prefs("undo") == Printed("~ PrefsTestSet.Integer Value: 6 → 5\n"))
        #expect(try prefs("get", "int") == Printed("5\n"))
        // UserDefaults sees the restored file.
        let root = try home.run("RawDefaults", ["read", HarnessHome.suite, "PrefsTestSet"])
        #expect(root.output.contains("Integer Value=5\n"))
        try prefs("set", "int", "7")
        #expect(try prefs("undo", "-f", HarnessHome.suite).output == "~ PrefsTestSet.Integer Value: 7 → 5\n")
        try prefs("set", "int", "7")
        let undone = try prefs("undo", "-f", home.suiteFile.path, "--json").output
        #expect(undone.contains(#"{"path":["PrefsTestSet","Integer Value"],"old":7,"new":5}"#))
        #expect(try prefs("get", "int") == Printed("5\n"))
    }

    @Test func aFileThatHasChangedSinceIsNotReverted() throws {
        let file = home.path("d.plist")
        try prefs("set", "-f", file, "R.k", "v")
        try home.write(["R": ["k": "other"]], to: "d.plist")
        let state = try home.state()
        let message = "\(file): has changed since the write that would be reverted"
        #expect(try prefs("undo", "-f", file) == .failure("\(message); the stored state is unchanged"))
        #expect(try prefs("undo", "-f", file, "--dry-run") == .failure(message))
        #expect(try home.state() == state)
        unlink(file)
        #expect(try prefs("undo", "-f", file).code == 1)
        #expect(try !home.folder.names().contains("d.plist"))
    }

    /// The other program has stored as many bytes as the tool.
    @Test(arguments: ["undo", "undo --dry-run"]) func otherBytesOfTheSameNumberAreNotReverted(_ words: String) throws {
        let file = home.path("d.json")
        for number in [12, 34] { try prefs("set", "-f", file, "n", "\(number)") }
        let other = Data(try home.text("d.json").replacing("34", with: "56").utf8)
        try home.write(other, to: "d.json")
        let state = try home.state()
        let printed = try prefs(words.split(separator: " ").map(String.init) + ["-f", file])
        #expect(printed.code == 1 && printed.output == "", "\(printed)")
        #expect(printed.errors.contains("\(file): has changed since the write that would be reverted"), "\(printed)")
        #expect(try home.bytes("d.json") == other && home.state() == state)
    }

    /// The file of an export, too, is one for all paths that lead to it.
    @Test(arguments: ["link.json", "d.json"], ["link.json", "d.json"])
    func anExportThroughALinkIsReverted(_ exported: String, _ undone: String) throws {
        let bytes = Data(#"{"a":1}"#.utf8)
        let source = try home.write(Data(#"{"a": 2}"#.utf8), to: "s.json").path
        try home.write(bytes, to: "d.json")
        try FileManager.default.createSymbolicLink(atPath: home.path("link.json"), withDestinationPath: "d.json")
        #expect(try prefs("export", "-f", source, "-o", home.path(exported), "--force") == Printed())
        #expect(try home.bytes("d.json") != bytes)
        #expect(try prefs("undo", "-f", home.path(undone)) == Printed("~ a: 2 → 1\n"))
        #expect(try home.bytes("d.json") == bytes)
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: home.path("link.json"))
        #expect(target == "d.json", "it stays a link")
    }

    /// A rejected write, and a write that changes nothing, keep the undo of the write before.
    @Test func onlyAWriteThatChangesTheFileReplacesTheUndo() throws {
        let file = home.path("d.plist")
        try prefs("set", "-f", file, "R.k", "1")
        try prefs("set", "-f", file, "R.k", "2")
        for words in [
            ["set", "-f", file, "R", "x"], ["set", "-f", file, "R.k", "2"], ["export", "-f", file],
            ["set", "-f", file, "R.k", "3", "--dry-run"],
        ] {
            try prefs(words)
        }
        #expect(try prefs("undo", "-f", file) == Printed("~ R.k: 2 → 1\n"))
        #expect(try prefs("get", "-f", file, "R.k") == Printed("1\n"))
    }

    /// The bytes of a damaged file are in quarantine. The undo restores what was read in their place.
    @Test func theUndoOfAWriteToADamagedFileRestoresTheKnownState() throws {
        let file = home.path("d.plist")
        try home.claim("d.plist")
        try prefs("set", "-f", file, "R.k", "1")
        try home.write("bplist00 damaged", to: "d.plist")
        #expect(try prefs("set", "-f", file, "R.l", "2", "--force").errors.contains("quarantined as"))
        #expect(try prefs("undo", "-f", file) == Printed("- R.l: 2\n"))
        #expect(try prefs("export", "-f", file) == Printed("{\n  \"R\": {\n    \"k\": 1\n  }\n}\n"))
    }

    @Test func aLinkAndItsFileHaveOneUndo() throws {
        try prefs("set", "-f", home.path("d.plist"), "R.k", "1")
        try FileManager.default.createSymbolicLink(atPath: home.path("link.plist"), withDestinationPath: "d.plist")
        try prefs("set", "-f", home.path("link.plist"), "R.k", "2")
        #expect(try prefs("undo", "-f", home.path("d.plist")) == Printed("~ R.k: 2 → 1\n"))
        #expect(try prefs("get", "-f", home.path("link.plist"), "R.k") == Printed("1\n"))
    }

    /// Records are told apart by the whole path, and by what they say of it.
    @Test func twoFilesOfOneNameHaveTwoUndos() throws {
        let files = ["a", "b"].map { home.path("\($0)/d.json") }
        for name in ["a", "b"] {
            try FileManager.default.createDirectory(at: home.folder.file(name), withIntermediateDirectories: false)
        }
        for number in 1...2 { for file in files { try prefs("set", "-f", file, "n", "\(number)") } }
        #expect(try prefs("undo", "-f", files[0]) == Printed("~ n: 2 → 1\n"))
        #expect(try prefs("get", "-f", files[1], "n") == Printed("2\n"))
        #expect(try prefs("undo", "-f", files[1]) == Printed("~ n: 2 → 1\n"))
        // Both files have the same bytes. The record of one has the name of that of the other.
        let folder = URL(filePath: home.path(".local/state/prefs/undo"))
        func records() throws -> [URL] {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        }
        let (own, other) = (try #require(try records().first), try #require(try records().last))
        #expect(try records().count == 2)
        try FileManager.default.removeItem(at: own)
        try FileManager.default.copyItem(at: other, to: own)
        let outcomes = try files.map { try prefs("undo", "-f", $0) }
        #expect(outcomes.filter { $0 == Printed("- n: 1\n") }.count == 1)
        #expect(outcomes.filter { $0.errors.contains("nothing to undo: no write of yours to ") }.count == 1)
    }

    // MARK: - The folder

    private var state: [String: String] { ["XDG_STATE_HOME": home.path("state")] }

    @Test func theBytesAreKeptPrivately() throws {
        #expect(try home.bash("umask 0; prefs set -f \"$HOME/d.plist\" R.k v") == Printed())
        let folder = ".local/state/prefs/undo"
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: home.path(path))[.posixPermissions] as? Int
        }
        for path in [".local", ".local/state", ".local/state/prefs", folder] { #expect(try mode(path) == 0o700) }
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path(folder))
        #expect(names.count == 1 && names[0].hasPrefix("d.plist-"))
        #expect(try mode("\(folder)/\(names[0])") == 0o600)
        chmod(home.path(folder), 0o755)
        try prefs("set", "-f", home.path("d.plist"), "R.k", "w")
        #expect(try mode(folder) == 0o700)
    }

    @Test func theStateFolderOfTheEnvironmentIsUsed() throws {
        let file = home.path("d.plist")
        #expect(try prefs(["set", "-f", file, "R.k", "v"], state) == Printed())
        #expect(try !home.folder.names().contains(".local"))
        #expect(try prefs("undo", "-f", file).code == 1)
        #expect(try prefs(["undo", "-f", file], state).code == 0)
        // A relative path is ignored.
        #expect(try prefs(["set", "-f", file, "R.k", "v"], ["XDG_STATE_HOME": "state"]) == Printed())
        #expect(try prefs("undo", "-f", file).code == 0)
    }

    /// Not in the folder `/.local`.
    @Test func withoutAHomeNoUndoIsKept() throws {
        let file = home.path("d.plist")
        for (variables, reason) in [([:], "HOME is not set"), (["HOME": "h"], "HOME is not an absolute path")] {
            let written = try CommandRun(environment: variables).run(["set", "-f", file, "R.k", "\(reason)"])
            #expect(written == Printed(errors: "prefs: stored, but `undo` cannot revert it: \(reason)\n"))
            #expect(try CommandRun(environment: variables).run(["undo", "-f", file]) == .failure(reason))
        }
    }

    /// A write succeeds if a file is in the place of the folder of undo records.
    @Test(arguments: [[], ["--json"]]) func aWriteSucceedsIfItCannotBeUndone(options: [String]) throws {
        try home.write(Data(), to: "state")
        let file = home.path("d.plist")
        let printed = try prefs(["set", "-f", file, "R.k", "v"] + options, state)
        #expect(printed.code == 0 && printed.errors.contains("stored, but `undo` cannot revert it: "), "\(printed)")
        #expect(try prefs("get", "-f", file, "R.k") == Printed("v\n"))
    }
}
