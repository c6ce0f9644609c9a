import Foundation
import PersistentPreferences
import PrefsJSON
import Testing
import TestSupport

@testable import PrefsTool

/// The settings of a time tracker, whose projects have got new fields.
private final class TrackerPrefs: PersistentPrefs, @unchecked Sendable {
    enum Kind: String, Codable { case work, home }
    struct Project: Codable, Equatable {
        var name: String
        var kind: Kind
        var archived: Bool
        var rate: Decimal
    }
    @Pref var projects: [Project] = []
    @Pref var price = Decimal(string: "10.00") ?? 0
    @Pref var phone = "123"
}

/// The command of a program on a file that a person has written for an older version.
@Suite(.waits) final class FieldByFieldTests: HarnessSuite {
    private var file: URL { home.folder.file("config.json") }

    override var program: Program? {
        let store = PrefsStore.json(url: file)
        return Program(name: "tracker prefs") { TrackerPrefs(key: $0, values: nil, store: $1 ?? store) }
    }

    private var text: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: file) }

    /// The list cannot be read before the last step, so each step is stored. The comment stays.
    @Test func aListIsCompletedFieldByField() throws {
        let before = """
            {
              "projects": [
                {"name": "a"},  // mine
                {"name": "b", "kind": "home"}
              ]
            }
            """
        try write(before)
        for step in [
            "projects[1].archived=false", "projects[1].rate=2.50", "projects[0].kind=work", "projects[0].rate=1",
            "projects[0].archived=true",
        ] {
            #expect(try prefs("set", step) == Printed(), "\(step): \(text)")
        }
        #expect(text.contains("// mine"))
        let prefs = TrackerPrefs(store: .json(url: file))
        #expect(
            prefs.projects == [
                .init(name: "a", kind: .work, archived: true, rate: 1),
                .init(name: "b", kind: .home, archived: false, rate: 2.5),
            ])
        #expect(prefs.lastError == nil)
    }

    @Test func anythingReplacesWhatCannotBeReadAndOnlyWhatFitsTheRest() throws {
        let before = #"{"projects": [{"name": "a", "kind": "work"}, {"name": "b", "kind": "work"}]}"#
        try write(before)
        for word in ["projects[0].archived=perhaps", "projects[0].name=x", "projects[0].kind=5", "projects[2].name=c"] {
            let stored = text
            #expect(try prefs("set", word) == Printed(), "\(word)")
            #expect(text != stored, "\(word)")
        }
        #expect(try prefs("get", "projects").output == "[]\n", "the default")
        let whole = #"[{"name": "a", "kind": "work", "archived": true, "rate": 1}]"#
        #expect(try prefs("set", "projects", whole) == Printed())
        let read = text
        for word in ["projects[0].archived=perhaps", "projects[0].kind=5", "projects[1].name=c"] {
            let printed = try prefs("set", word)
            #expect(printed.code == 1 && text == read, "\(word): \(printed)")
        }
    }

    /// Of the readings of a text, the one that makes the whole value fit counts. An integer would be stored otherwise.
    @Test func aReadingThatFitsIsChosen() throws {
        try write(#"{"projects": [{"name": 5, "kind": "work", "archived": false, "rate": "1"}]}"#)
        #expect(try prefs("set", "projects[0].name", "7") == Printed())
        #expect(text == #"{"projects": [{"name": "7", "kind": "work", "archived": false, "rate": "1"}]}"#)
    }

    /// The subscript and an update follow the same rule.
    @Test func codeCompletesFieldByField() throws {
        try write(#"{"projects": [{"name": "a"}]}"#)
        let prefs = TrackerPrefs(store: .json(url: file))
        var list = try #require(prefs["projects"] as? [[String: Any]])
        for (field, value) in [("kind", "work" as Any), ("archived", false), ("rate", "2")] {
            list[0][field] = value
            prefs["projects"] = list
            #expect(prefs.lastError == nil, "\(field)")
        }
        #expect(prefs.projects.map(\.rate) == [2])
        list[0]["rate"] = nil
        prefs["projects"] = list
        #expect(prefs.lastError?.description == #"projects[0]: the key "rate" is missing"#)
    }

    /// The reason is the one that a file gets.
    @Test func theReasonNamesThePart() throws {
        let words = #"[{"name": "a", "kind": "work", "rate": "1"}]"#
        let reason = #"projects[0]: the key "archived" is missing"#
        #expect(try prefs("set", "projects", words) == failure(reason))
        try write("{\"projects\": \(words)}")
        #expect(TrackerPrefs(store: .json(url: file)).problems().map(\.description) == [reason])
    }

    // MARK: - Numbers

    @Test func decimalsAreAddedExactly() throws {
        for (words, result) in [
            ("+0.01", "10.01"), ("+0.1", "10.11"), ("+-0.11", "10"), ("+1e-20", "10.00000000000000000001"),
        ] {
            #expect(try prefs("set", "price", words) == Printed(), "\(words)")
            #expect(try prefs("get", "price") == Printed(result + "\n"))
        }
        #expect(try prefs("set", "price", "+1e30") == failure("`price`: the sum has more than 38 digits"))
        #expect(try prefs("get", "price") == Printed("10.00000000000000000001\n"))
        #expect(
            try prefs("set", "projects", #"[{"name":"a","kind":"work","archived":false,"rate":"0.1"}]"#) == Printed())
        #expect(try prefs("set", "projects[0].rate", "+0.2") == Printed())
        #expect(try prefs("get", "projects[0].rate") == Printed("0.3\n"))
        #expect(try prefs("set", "phone=+49", "projects[0].name=+1", "-t", "string") == Printed())
        #expect(try prefs("get", "phone", "projects[0].name") == Printed("+49\n+1\n"))
    }
}
