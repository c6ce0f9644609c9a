import Foundation
import Testing
import TestSupport

@testable import PrefsTool
import PrefsJSON

/// A command writes only to the file that its words name. Every command line of the tables runs on a copy of a folder.
@Suite(.waits) struct HarnessToldWritesTests {
    /// All command lines, except those that run until a signal or need a terminal.
    private static let lines: [[String]] = {
        var lines = HarnessLookTests.looks + ToolMessage.usage.map(\.0) + TerminalSafetyTests.commands
        lines += HarnessErrorTests.commands.flatMap { [$0, $0 + ["-f", "FILE"], $0 + ["-f", "FILE", "--root", "R"]] }
        lines += HarnessDamageTests.commands + HarnessDamageTests.writes + HarnessUndoTests.writes
        let ofDomain = HarnessSafetyTests.risky.map(\.words) + HarnessSafetyTests.harmless
        lines += ofDomain.map { $0 + ["-f", "D"] } + HarnessSafetyTests.foreignWrites
        lines += HarnessSafetyTests.dryRuns.map(\.words)
        let others = [
            ["export", "-o", "HOME/new.json"], ["export", "-f", "FILE", "-o", "HOME/new.plist"],
            ["diff", "FILE", "HOME/i.json"],
            ["import", "FILE"], ["import", "-f", "FILE", "HOME/i.json", "--replace"],
            ["doctor", "--mend", "-f", "FILE"],
        ]
        lines += others
        let forced = lines.map { $0 + ["--force"] }
        // The usual form has each line once, with or without the word.
        let all = Hazard.isLong ? lines + forced : zip(lines, forced).enumerated().map { $0 % 2 == 0 ? $1.0 : $1.1 }
        return all.filter(HarnessHome.needsNoProcess)
    }()

    private static let files = ["HOME/a.plist", "HOME/i.json", "HOME/notes.txt", "D"]

    private static func home() throws -> HarnessHome {
        let home = try HarnessHome()
        try home.storeSampleValues()
        let content: [String: Any] = [
            "R": ["d": ["a": 1], "l": [1], "s": "t", "k": "v"] as [String: Any], "Entry": 1,
            "PrefsTestSet": ["Integer Value": 7],
        ]
        for name in ["a.plist", "b.plist"] { try home.write(content, to: name) }
        try home.write(#"{"R": {"l": 2}, "Integer Value": 5}"#, to: "i.json")
        for name in ["x.json", "set.json", "domain.json", "empty.json", "i2.json"] {
            try home.write("{}", to: name)
        }
        try home.write("my notes", to: "notes.txt")
        try home.prefs("set", "-f", "D", "R", #"{"d": {"a": "1"}, "l": ["1"], "s": "t"}"#, "--force")
        try home.prefs("set", "-f", "E", "k", "v", "--force")
        return home
    }

    /// Lines without `FILE` run beside the first file only. In the usual form, the files share the other lines.
    @Test(arguments: files.indices) func onlyWhatIsNamedIsWritten(index: Int) throws {
        let file = Self.files[index]
        var home = try Self.home()
        var before = try Self.files(home)
        for (number, line) in Self.lines.enumerated() {
            if !line.contains("FILE") ? index > 0 : !Hazard.isLong && number % Self.files.count != index { continue }
            let words = line.map { $0.replacing("FILE", with: file).replacing("HOME", with: home.folder.path) }
            try home.prefs(words)
            let after = try Self.files(home)
            if after == before { continue }
            let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            let told = Self.told(words, home)
            let others = changed.filter { path in !told.contains { Self.belongs(path, to: $0) } }
            #expect(others.isEmpty, "\(words) wrote \(others.sorted())")
            home = try Self.home()
            before = try Self.files(home)
        }
    }

    /// The files of the home, with everything that a write changes.
    private static func files(_ home: HarnessHome) throws -> [String: String] {
        try home.state().filter { path, _ in
            var isFolder: ObjCBool = false
            return
                !(FileManager.default.fileExists(atPath: home.path(path), isDirectory: &isFolder) && isFolder.boolValue)
        }
    }

    /// The files that the words name for writing, relative to the home.
    private static func told(_ words: [String], _ home: HarnessHome) -> [String] {
        var named: [String] = []
        for (option, value) in zip(words, words.dropFirst()) where ["-f", "-o"].contains(option) { named.append(value) }
        named += words.filter { $0.contains(":") }.map { String($0.prefix { $0 != ":" }) }
        if !words.contains("-f") { named.append(HarnessHome.suite) }
        return named.map { name in
            if case .suite(let suite) = Target(name) { return ".config/\(suite).plist" }
            return name.replacing(home.folder.path + "/", with: "")
        }
    }

    /// Whether a path is the file itself, a file that the engine keeps beside it, or a record of an undo.
    private static func belongs(_ path: String, to file: String) -> Bool {
        let (folder, name) = ((file as NSString).deletingLastPathComponent, (file as NSString).lastPathComponent)
        let prefix = folder.isEmpty ? "" : folder + "/"
        return path == file || path.hasPrefix(".local/state/") || path.hasPrefix("\(prefix).\(name).")
            || path.hasPrefix("\(file).corrupt-")
    }
}
