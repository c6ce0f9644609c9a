import Foundation
import TestSupport
import Testing

/// The commands in the table "Tasks" of the article "Daily tasks in a terminal", each with new files.
@Suite(.waits) final class DailyTasksTests: HarnessSuite {
    /// What a command prints, and the lines that it takes from the files and adds to them.
    private struct Effect {
        var output = ""
        var code: Int32 = 0
        var removed: [String] = []
        var added: [String] = []
    }

    private static let first = [
        "{", #"  "name": "editor","#, #"  "port": 80,"#, #"  "on": true,"#, #"  "old": 1,"#, #"  "n": 1,"#,
        #"  "window": {"width": 800},"#, #"  "tags": ["keep", "b"]"#, "}",
    ]
    private static let second = ["{", #"  "name": "other","#, #"  "port": 81"#, "}"]

    private static let effects: [String: Effect] = [
        "get F name port": Effect(output: "editor\n80\n"),
        "get F window.width": Effect(output: "800\n"),
        "get F a.b": Effect(output: "dotted\n"),
        "get F x --default 9": Effect(output: "9\n"),
        "set F name=neo port=81 on=false old=null": Effect(
            removed: [#"  "name": "editor","#, #"  "port": 80,"#, #"  "on": true,"#, #"  "old": 1,"#],
            added: [#"  "name": "neo","#, #"  "port": 81,"#, #"  "on": false,"#, #"  "old": null,"#]),
        "set p.plist e 2027-01-02": Effect(
            removed: ["\t<date>2026-01-02T00:00:00Z</date>"], added: ["\t<date>2027-01-02T00:00:00Z</date>"]),
        "set p.plist b AQID -t data": Effect(removed: ["\tAA=="], added: ["\tAQID"]),
        "set F new '[1,2]'": Effect(
            removed: [#"  "tags": ["keep", "b"]"#], added: [#"  "tags": ["keep", "b"],"#, #"  "new": [1, 2]"#]),
        #"set F new '{"x":1}'"#: Effect(
            removed: [#"  "tags": ["keep", "b"]"#], added: [#"  "tags": ["keep", "b"],"#, #"  "new": {"x": 1}"#]),
        "set F tags[+] c": Effect(
            removed: [#"  "tags": ["keep", "b"]"#], added: [#"  "tags": ["keep", "b", "c"]"#]),
        "set F x.y.z 1": Effect(
            removed: [#"  "tags": ["keep", "b"]"#],
            added: [#"  "tags": ["keep", "b"],"#, #"  "x": {"y": {"z": 1}}"#]),
        "unset F old": Effect(removed: [#"  "old": 1,"#]),
        "unset F tags[0]": Effect(removed: [#"  "tags": ["keep", "b"]"#], added: [#"  "tags": ["b"]"#]),
        "mv F old neu": Effect(removed: [#"  "old": 1,"#], added: [#"  "neu": 1,"#]),
        "cp F:name G:w": Effect(
            removed: [#"  "port": 81"#], added: [#"  "port": 81,"#, #"  "w": "editor""#]),
        "mv F:old G:old": Effect(removed: [#"  "old": 1,"#], added: [#"  "old": 1,"#]),
        "set F n +1": Effect(removed: [#"  "n": 1,"#], added: [#"  "n": 2,"#]),
        "set F n 2 --if 1": Effect(removed: [#"  "n": 1,"#], added: [#"  "n": 2,"#]),
        "diff F G": Effect(
            output: """
                - n: 1
                ~ name: editor → other
                - old: 1
                - on: true
                ~ port: 80 → 81
                - tags: ["keep","b"]
                - window: {"width":800}

                """, code: 1),
        "import -f F G": Effect(
            removed: [#"  "name": "editor","#, #"  "port": 80,"#], added: [#"  "name": "other","#, #"  "port": 81,"#]),
        "export p.plist --format json": Effect(
            output: """
                {
                  "b": {"$data": "AA=="},
                  "e": {"$date": "2026-01-02T00:00:00Z"}
                }

                """),
        "find F keep": Effect(output: "tags[0]: keep\n"),
        "set F port 81 --dry-run": Effect(output: "~ port: 80 → 81\n"),
        "set new.json a 1": Effect(added: ["{", #"  "a": 1"#, "}"]),
    ]

    /// These wait, print paths of the machine, or need an earlier write or an input: other suites have them.
    private static let others: Set<String> = [
        "doctor F", "edit F", "undo F", "watch -f F", "show --json --sources --layers EDITOR_", "get -f - port <F",
    ]

    /// The commands of the second column, without single options.
    private static func commands() throws -> [String] {
        let article = URL(filePath: #filePath)
            .appending(path: "../../../Sources/PersistentPreferences/PersistentPreferences.docc/DailyTasks.md")
            .standardized
        let rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
            .drop { !$0.hasPrefix("| task |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
        return rows.flatMap { row in
            (row.split(separator: "|").dropFirst().first ?? "").split(separator: "`").enumerated()
                .compactMap { $0 % 2 == 1 && !$1.hasPrefix("-") ? String($1) : nil }
        }
    }

    @Test func everyCommandOfTheTableIsKnown() throws {
        #expect(try Set(Self.commands()) == Set(Self.effects.keys).union(Self.others))
    }

    private func lines(ofAllFiles names: [String]) throws -> [String] {
        try names.filter { FileManager.default.fileExists(atPath: home.path($0)) }.flatMap { name in
            try String(contentsOf: home.folder.file(name), encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    @Test(arguments: effects.keys.sorted()) func doesWhatTheTableSays(_ command: String) throws {
        let effect = try #require(Self.effects[command])
        // A key with a dot changes what a new path means.
        let dotted = command.contains("a.b") ? [#"  "a.b": "dotted","#] : []
        let first = Self.first.prefix(1) + dotted + Self.first.dropFirst()
        try home.write(first.joined(separator: "\n") + "\n", to: "F.json")
        try home.write(Self.second.joined(separator: "\n") + "\n", to: "G.json")
        let list: [String: Any] = ["e": Date(timeIntervalSince1970: 1_767_312_000), "b": Data([0])]
        try home.write(list, to: "p.plist", format: .xml)
        let names = ["F.json", "G.json", "p.plist", "new.json"]
        let before = try lines(ofAllFiles: names)

        let words = command.split(separator: " ").map { word -> String in
            let word = String(word.filter { $0 != "'" })
            if ["p.plist", "new.json"].contains(word) { return home.path(word) }
            let parts = word.split(separator: ":", maxSplits: 1)
            guard let file = parts.first, file == "F" || file == "G" else { return word }
            return home.path("\(file).json") + word.dropFirst()
        }
        #expect(try prefs(words) == Printed(effect.output, code: effect.code))
        let after = try lines(ofAllFiles: names)
        let changes = after.difference(from: before)
        #expect(changes.removals.map(Self.line) == effect.removed)
        #expect(changes.insertions.map(Self.line) == effect.added)
    }

    private static func line(_ change: CollectionDifference<String>.Change) -> String {
        switch change {
        case .insert(_, let line, _), .remove(_, let line, _): line
        }
    }
}
