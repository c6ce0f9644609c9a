import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import Testing
import TestSupport

/// What people write for "no value", for dates and for numbers, and objects of other programs: how it is read, and what
/// a write leaves of it.
@Suite final class PersonsValuesTests: FolderSuite {
    struct Project: Codable, Equatable {
        var name = ""
        var start = Date(timeIntervalSinceReferenceDate: 0)
        var tags: Set<String> = []
        var rate: Double?
    }

    final class ToolPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var limit: Int? = 1024
        @Pref var name: String?
        @Pref var size = 12
        @Pref var ports: [Int?] = []
        @Pref var any: [String: Any] = [:]
        @Pref var start = Date(timeIntervalSinceReferenceDate: 0)
        @Pref var end: Date?
        @Pref var icon = Data()
        @Pref var wait = Duration.zero
        @Pref var ratio = 0.5
        @Pref var tags: Set<String> = []
        @Pref var days: Set<Date> = []
        @Pref var projects: [Project] = []
        @Pref var project = Project()
        override var allowedKeys: [String] { ["free", "list"] }
    }

    private func prefs(_ text: String) throws -> ToolPrefs {
        try put(text)
        return ToolPrefs(store: .json(url: url, durability: .crash))
    }

    // MARK: - null

    @Test func aNullIsNoValue() throws {
        let prefs = try prefs(#"{"limit": null, "size": null, "free": null, "ports": [1, null]}"#)
        #expect(prefs.limit == nil && prefs.$limit.isStored && prefs.$limit.source == .stored)
        #expect(!prefs.$limit.isDefault && prefs["limit"] == nil && prefs.lastError == nil)
        #expect(prefs.size == 12 && prefs.$size.source == .default && prefs.lastError == nil)
        #expect(prefs.ports == [1, nil] && prefs.lastError == nil)
        #expect(Set(prefs.values.keys) == ["ports"] && prefs.values.count == 1)
        #expect(prefs.problems().map(\.description) == ["size: expected Int, found null"])
        prefs.size = 13
        prefs.limit = 5
        prefs.ports.append(nil)
        #expect(try text() == #"{"limit": 5, "size": 13, "free": null, "ports": [1, null, null]}"#)
    }

    /// Without a null, the default would be read.
    @Test func nilIsWrittenAsNullIfTheDefaultIsNot() throws {
        let prefs = try prefs(#"{"limit": 1, "name": "a"}"#)
        (prefs.limit, prefs.name) = (nil, nil)
        #expect(prefs.limit == nil && prefs.name == nil && prefs.lastError == nil)
        #expect(try text() == #"{"limit": null}"#)
        #expect(prefs.$limit.reset() == nil && prefs.limit == 1024)
        #expect(try text() == "{}")
        prefs.limit = nil
        #expect(try text() == "{\n  \"limit\": null\n}")
        prefs["limit"] = nil
        #expect(prefs.limit == 1024)
        // A property list has no null.
        let other = ToolPrefs(store: .memory())
        (other.limit, other.limit) = (1, nil)
        #expect(other.limit == 1024 && other.lastError == nil)
    }

    @Test func resetAndRemoveDeleteANull() throws {
        let prefs = try prefs(#"{"limit": null, "size": null, "name": null, "free": null, "mine": null}"#)
        #expect(prefs.$size.reset() == nil)
        #expect(prefs.reset("free") == nil)
        #expect(try text() == #"{"limit": null, "name": null, "mine": null}"#)
        prefs.resetAll()
        #expect(try text() == #"{"mine": null}"#)
    }

    /// `values`, subscripts and exports leave nulls out. Their writes keep them.
    @Test func otherCodeSeesNoNulls() throws {
        let before =
            #"{"free": {"id": null, "keys": "x"}, "list": [1, null, {"a": null, "b": 2}, null], "any": {"n": [null, 1]}}"#
        let prefs = try prefs(before)
        let free = ["keys": "x"]
        #expect(prefs["free"] as? [String: String] == free)
        #expect((prefs["list"] as? [Any])?.count == 2 && (prefs.any["n"] as? [Int]) == [1])
        #expect(!prefs.exportedText.contains("null"))
        prefs.values = prefs.values
        prefs["free"] = free
        #expect(try text() == before && prefs.lastError == nil)
        prefs["free"] = ["keys": "y"]
        prefs["list"] = [1, ["b": 2], 3] as [Any]
        prefs.any["n"] = [1, 2]
        #expect(
            try text()
                == #"{"free": {"id": null, "keys": "y"}, "list": [1, null, {"a": null, "b": 2}, null, 3], "any": {"n": [null, 1, 2]}}"#
        )
        prefs["list"] = [["b": 2], 3] as [Any]
        #expect((prefs["list"] as? [Any])?.count == 2)
        #expect(try text().contains(#""list": [null, {"a": null, "b": 2}, null, 3]"#))
        prefs.values = ["size": 1]
        #expect(try text() == #"{"size": 1}"#)
    }

    @Test func aNullInALayerCoversOnlyAnOptional() throws {
        let layer = folder.file("layer.json")
        try Data(#"{"limit": null, "size": null, "free": null}"#.utf8).write(to: layer)
        _ = try prefs(#"{"limit": 2, "size": 3, "free": 4}"#)
        let store = PrefsStore.layered(.json(url: url), above: [.file(layer)])
        let prefs = ToolPrefs(store: store)
        #expect(prefs.limit == nil && prefs.size == 3 && prefs["free"] as? Int == 4 && prefs.lastError == nil)
        prefs.limit = 5
        #expect(prefs.lastError.kind == "coveredByLayer")
        let base = ToolPrefs(store: .layered(.json(url: layer), below: [.file(url)]))
        #expect(base.limit == nil && base.size == 3 && base["free"] as? Int == 4)
    }

    /// A field of a struct: nil for an optional, the field of the default for another one.
    @Test func aNullInAStructIsNoValueEither() throws {
        let prefs = try prefs(#"{"project": {"name": null, "start": 5, "tags": [], "rate": null, "x": null}}"#)
        #expect(prefs.project == Project(name: "", start: Date(timeIntervalSinceReferenceDate: 5)))
        #expect(prefs.lastError == nil)
        prefs.project.rate = 2
        #expect(try text() == #"{"project": {"name": null, "start": 5, "tags": [], "rate": 2.0, "x": null}}"#)
    }

    // MARK: - Objects and numbers of other programs

    static let foreign = [
        ##"{"allOf": {"$ref": "#/x"}, "##, #"{"_id": {"$oid": "507f"}, "#, #"{"at": {"$date": 1577836800000}, "#,
        #"{"at": {"$date": {"$numberLong": "1"}}, "#, #"{"n": [12345678901234567890123, -0, 1e400, -1e400], "#,
        #"{"n": 0.33000000000000002, "m": 1.10, "#, #"{"a": [null, [null]], "#,
    ]

    @Test(arguments: foreign) func whatOtherProgramsWriteStays(_ start: String) throws {
        let prefs = try prefs(start + #""size": 1}"#)
        #expect(prefs.size == 1 && prefs.lastError == nil)
        prefs.size = 2
        #expect(try text() == start + #""size": 2}"#)
        #expect(prefs.lastError == nil)
    }

    @Test func aNumberBeyondItsTypeIsReported() throws {
        let prefs = try prefs(#"{"size": 12345678901234567890123, "ratio": 12345678901234567890123}"#)
        #expect(prefs.ratio == 12345678901234567890123.0 && prefs.lastError == nil)
        #expect(prefs.size == 12)
        #expect(
            prefs.lastError?.description
                == "size: expected Int (\(Int.min)...\(Int.max)), found an integer out of its range")
    }

    // MARK: - Forms

    private static let noon = Date(timeIntervalSince1970: 1_795_780_800)

    @Test(arguments: [
        ("\"2026-11-01\"", 0, "\"2026-11-28\""), ("\"2026-11-01\"", 1, "\"2026-11-28T00:00:01Z\""),
        ("\"2026-11-01T10:00:00+01:00\"", 0.5, "\"2026-11-28T01:00:00.5+01:00\""),
        ("\"2026-11-01T10:00:00Z\"", 0.25, "\"2026-11-28T00:00:00.25Z\""), ("0", 0, "817516800"),
        ("0", 0.5, "817516800.5"), ("null", 0, "\"2026-11-28T00:00:00Z\""),
        ("\"2026-11-01T10:00:00.25+01:00\"", 0.5, "\"2026-11-28T01:00:00.5+01:00\""),
        ("\"2026-11-01T10:00:00-0330\"", 0.5, "\"2026-11-27T20:30:00.5-0330\""),
        (#"{"$date": "2026-11-01T00:00:00Z"}"#, 0, #"{"$date": "2026-11-28T00:00:00Z"}"#),
    ])
    func aDateKeepsItsForm(_ before: String, _ seconds: Double, _ after: String) throws {
        let prefs = try prefs("{\"start\": \(before)}")
        let date = Date(timeIntervalSinceReferenceDate: 817_516_800 + seconds)
        prefs.start = date
        #expect(try text() == "{\"start\": \(after)}")
        #expect(ToolPrefs(store: .json(url: url)).start == date && prefs.lastError == nil)
    }

    @Test(arguments: [
        ("\"90s\"", 120, "\"120s\""), ("\"1h 30m\"", 5_460, "\"1h 31m\""), ("\"PT1M\"", 120, "\"PT2M\""),
        ("60", 120, "120"), ("\"2m\"", 90, "\"1m 30s\""), ("\"5 min\"", 120, "\"2 min\""), ("60", 0.5, "0.5"),
        ("\"1s\"", 0.25, "\"250ms\""), ("\"2d\"", 259_200, "\"3d\""), ("\"1d 2h\"", 97_200, "\"1d 3h\""),
        ("\"90S\"", 30, "\"30S\""), ("\"10us\"", 0.25, "\"250000us\""), ("\"50h\"", 180_060, "\"50h 1m\""),
        ("null", 90, "\"1m 30s\""), ("null", -30, "\"-PT30S\""), ("\"90s\"", -30, "\"-PT30S\""),
        ("1.5", -2.25, "-2.25"),
    ])
    func aDurationKeepsItsForm(_ before: String, _ seconds: Double, _ after: String) throws {
        let prefs = try prefs("{\"wait\": \(before)}")
        prefs.wait = .seconds(seconds)
        #expect(try text() == "{\"wait\": \(after)}")
        #expect(prefs.wait == .seconds(seconds) && prefs.lastError == nil)
    }

    /// In a new file and in an existing one: declared properties have no objects with `$`, and nil is stored.
    @Test(arguments: [true, false]) func newValuesAreWrittenAsPeopleDo(_ isNewFile: Bool) throws {
        if !isNewFile { try put("{}") }
        let prefs = ToolPrefs(store: .json(url: url, durability: .crash))
        prefs.update {
            (prefs.start, prefs.wait, prefs.icon) = (Self.noon, .seconds(90), Data([1, 2, 3]))
            prefs.any = ["when": Self.noon]
            prefs["free"] = Self.noon
            prefs.limit = nil
            #expect(prefs.limit == nil)
        }
        let expected = """
            {
              "any": {
                "when": {"$date": "2026-11-27T12:00:00Z"}
              },
              "free": {"$date": "2026-11-27T12:00:00Z"},
              "icon": "AQID",
              "limit": null,
              "start": "2026-11-27T12:00:00Z",
              "wait": "1m 30s"
            }
            """
        #expect(try text() == expected + (isNewFile ? "\n" : ""))
        #expect(prefs.any["when"] as? Date == Self.noon && prefs["free"] as? Date == Self.noon)
        #expect(prefs.start == Self.noon && prefs.wait == .seconds(90) && prefs.icon == Data([1, 2, 3]))
        #expect(prefs.limit == nil && prefs.lastError == nil)
    }

    @Test func bytesAndWholeNumbersKeepTheirForm() throws {
        let prefs = try prefs(#"{"icon": [1, 2], "ratio": 1}"#)
        prefs.icon = Data([1, 2, 255])
        prefs.ratio = 2
        #expect(try text() == #"{"icon": [1, 2, 255], "ratio": 2}"#)
        prefs.ratio = 2.5
        #expect(try text() == #"{"icon": [1, 2, 255], "ratio": 2.5}"#)
        let exported = try self.prefs(#"{"icon": {"$data": "AQI="}}"#)
        exported.icon = Data([1, 2, 3])
        #expect(try text() == #"{"icon": {"$data": "AQID"}}"# && exported.icon == Data([1, 2, 3]))
    }

    @Test(arguments: ["AQID", "AQ ID", " A\\nQ\\r\\n\\tID ", "AQ\u{A0}ID\u{3000}", "AQ\u{2028}ID"])
    func base64MayHaveBlanks(_ written: String) throws {
        let prefs = try prefs("{\"icon\": \"\(written)\"}")
        #expect(prefs.icon == Data([1, 2, 3]) && prefs.lastError == nil)
    }

    @Test(arguments: ["AQI", "AQ-D", "AQ_D", "AQID\u{200B}"]) func otherTextIsNotBase64(_ written: String) throws {
        let prefs = try prefs("{\"icon\": \"\(written)\"}")
        #expect(prefs.icon == Data())
        #expect(prefs.lastError?.description == #"icon: expected Data (base64 such as "AQID"), found a string"#)
    }

    /// A coding of closures never sees a null.
    @Test func aNullIsNilForEveryCoding() throws {
        final class CodedPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref(coding: .json) var project: Project? = Project(name: "default")
            @Pref(coding: PrefCoding(encode: { $0.map { "\($0)" } }, decode: { ($0 as? String).map { Int($0) } }))
            var number: Int? = 5
        }
        let prefs = CodedPrefs(store: .json(url: url, durability: .crash))
        (prefs.project, prefs.number) = (nil, nil)
        #expect(try text() == "{\n  \"number\": null,\n  \"project\": null\n}\n")
        #expect(prefs.project == nil && prefs.number == nil && prefs.lastError == nil && prefs.problems().isEmpty)
    }

    @Test func aSetIsChangedAsASet() throws {
        let prefs = try prefs("{\"tags\": [\n  \"z\", // last\n  \"a\",\n  \"m\"\n]}")
        prefs.tags.remove("a")
        prefs.tags.insert("b")
        #expect(try text() == "{\"tags\": [\n  \"z\", // last\n  \"m\",\n  \"b\"\n]}")
        let days = try self.prefs(#"{"days": ["2026-11-28", "2026-11-02"]}"#)
        days.days.insert(Self.noon)
        #expect(days.days.count == 3 && days.lastError == nil)
        #expect(try text() == #"{"days": ["2026-11-28", "2026-11-02", "2026-11-27T12:00:00Z"]}"#)
        days.days.remove(Self.noon)
        days.days.remove(Date(timeIntervalSinceReferenceDate: 817_516_800))
        #expect(try text() == #"{"days": ["2026-11-02"]}"#)
    }

    @Test func onlyTheFieldsThatChangeAreWritten() throws {
        let before = """
            {
              // mine
              "projects": [
                {"name": "a", "start": "2026-11-01", "tags": ["y", "x"], "note": null}, // first
                {"start": "2026-11-02", "tags": [], "name": "b", "color": "red"}
              ]
            }

            """
        let prefs = try prefs(before)
        prefs.projects[1].name = "c"
        let renamed = before.replacing("\"b\"", with: "\"c\"")
        #expect(try text() == renamed)
        prefs.projects.insert(Project(name: "new", start: Self.noon), at: 1)
        let new = "    {\"name\": \"new\", \"start\": \"2026-11-27T12:00:00Z\", \"tags\": []},\n"
        #expect(try text() == renamed.replacing("// first\n", with: "// first\n" + new))
        prefs.projects.remove(at: 1)
        prefs.projects[0].start += 86_400
        #expect(try text() == renamed.replacing("2026-11-01", with: "2026-11-02"))
        #expect(prefs.lastError == nil)
    }

    // MARK: - Values that cannot be read

    struct Task: Codable, Equatable {
        var name: String
        var isDone: Bool
        var due: Date?
    }

    final class TaskPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var tasks: [Task] = []
        @Pref var byName: [String: Task] = [:]
    }

    /// A field was added to the type. As long as the list cannot be read, any value may replace it.
    @Test func aListThatCannotBeReadIsReplacedByAnyValue() throws {
        try put(
            #"{"tasks": [{"name":"a"}, {"name":"b", "due": "2026-11-01"}, {"name":"c"}], "byName": {"x.y": {"name":"x"}, "z": {}}}"#
        )
        let prefs = TaskPrefs(store: .json(url: url, durability: .crash))
        func tasks() -> [[String: Any]] { prefs["tasks"] as? [[String: Any]] ?? [] }
        #expect(prefs.tasks.isEmpty && prefs.lastError != nil)
        var list = tasks()
        list[1]["isDone"] = true
        #expect(prefs.update { $0["tasks"] = list }.failure == nil)
        #expect(prefs.tasks.isEmpty)
        // One has the field, and another one has lost it.
        list[0]["isDone"] = false
        list[1]["isDone"] = nil
        #expect(prefs.update { $0["tasks"] = list }.failure == nil)
        list[1]["isDone"] = true
        #expect(prefs.update { $0["tasks"] = list }.failure == nil)
        list[2]["isDone"] = false
        #expect(prefs.update { $0["tasks"] = list }.failure == nil)
        #expect(prefs.tasks.map(\.name) == ["a", "b", "c"] && prefs.lastError == nil)
        #expect(
            try text().hasPrefix(
                #"{"tasks": [{"isDone":false, "name":"a"}, {"name":"b", "due": "2026-11-01", "isDone":true}, {"isDone":false, "name":"c"}]"#
            ))
        list[0]["isDone"] = nil
        #expect(prefs.update { $0["tasks"] = list }.failure.kind == "typeMismatch", "it can be read")
        let isHalf: [String: Any] = ["x.y": ["name": "x", "isDone": true], "z": [String: Any]()]
        #expect(prefs.update { $0["byName"] = isHalf }.failure == nil)
        #expect(prefs.update { $0["byName"] = ["z": [String: Any](), "y": 1] }.failure == nil)
        #expect(prefs.update { $0["byName"] = [String: Any]() }.failure == nil)
        #expect(prefs.update { $0["byName"] = isHalf }.failure.kind == "typeMismatch", "it can be read")
    }

    /// A date that a person writes is read, so only a value that fits replaces it.
    @Test func aWrittenFormCanBeRead() throws {
        final class DuePrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var due: Date? = nil
        }
        let before = #"{"due": "2026-11-01"}"#
        try put(before)
        let prefs = DuePrefs(store: .json(url: url, durability: .crash))
        prefs["due"] = 5
        #expect(prefs.lastError?.description == "due: expected Date, found an integer")
        #expect(try text() == before)
        try put(#"{"due": "soon"}"#)
        prefs["due"] = 5
        #expect(prefs.lastError == nil)
        #expect(try text() == #"{"due": 5}"#)
    }

    /// A null is no value, so the first value has to fit.
    @Test func aNullIsReplacedByAValueThatFits() throws {
        final class SizePrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var size = 1
        }
        let before = #"{"size": null}"#
        try put(before)
        let prefs = SizePrefs(store: .json(url: url, durability: .crash))
        prefs["size"] = "x"
        #expect(prefs.lastError?.description == "size: expected Int, found a string")
        #expect(prefs.update { $0["size"] = "x" }.failure.kind == "typeMismatch")
        #expect(try text() == before)
        prefs["size"] = 2
        #expect(try prefs.lastError == nil && text() == #"{"size": 2}"#)
    }
}
