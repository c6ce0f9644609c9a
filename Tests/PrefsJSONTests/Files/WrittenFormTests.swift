import Foundation
import PersistentPreferences
import Testing
import TestSupport

@testable import EngineSupport
import PrefsJSON
import PrefsLayers
import PrefsStoreKit

/// The forms in which people and Foundation's encoders write values in JSON. Foundation's encoders are the judges.
@Suite final class WrittenFormTests: FolderSuite {
    enum Theme: String, Codable { case light, dark }
    enum Level: Int, Codable { case low, high }
    enum Shape: Codable, Equatable {
        case point
        case circle(radius: Double)
    }
    struct Entry: Codable, Equatable {
        var title = ""
        var when = Date(timeIntervalSinceReferenceDate: 0)
        var moments: [Date] = []
        var cover: Data?
        var wait = Duration.zero
    }

    final class ConfigPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var since = Date(timeIntervalSinceReferenceDate: 0)
        @Pref var until: Date?
        @Pref var moments: [Date] = []
        @Pref var days: [String: Date] = [:]
        @Pref var icon = Data()
        @Pref var parts: [Data] = []
        @Pref var theme = Theme.light
        @Pref var level = Level.low
        @Pref var shape = Shape.point
        @Pref var shapes: [Shape] = []
        @Pref var entry = Entry()
        @Pref var entries: [Entry] = []
        @Pref var wait = Duration.zero
        @Pref var site = URL(filePath: "/")
        @Pref var price = Decimal(0)
        @Pref var id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        @Pref var byTheme: [Theme: Int] = [:]
        @Pref var byNumber: [Int: String] = [:]
    }

    private static let day = Date(timeIntervalSinceReferenceDate: 805_000_000)
    private static let entry = Entry(title: "x", when: day, moments: [day], cover: Data([5]), wait: .seconds(90))

    /// A property, and its value as a program without this package encodes it.
    private struct Field {
        let json: (JSONEncoder) throws -> String
        let check: (ConfigPrefs) -> Void
        let assign: (ConfigPrefs) -> Void

        init<Value: Codable & Equatable>(
            _ key: String, _ path: ReferenceWritableKeyPath<ConfigPrefs, Value>, _ value: Value
        ) {
            json = { "\"\(key)\":" + String(decoding: try $0.encode(value), as: UTF8.self) }
            check = { prefs in #expect(prefs[keyPath: path] == value, "\(key)") }
            assign = { $0[keyPath: path] = $0[keyPath: path] }
        }
    }

    private static var fields: [Field] {
        [
            Field("since", \.since, day), Field("until", \.until, day + 1),
            Field("moments", \.moments, [day, day + 2]),
            Field("days", \.days, ["a": day]), Field("icon", \.icon, Data([1, 2, 3])),
            Field("parts", \.parts, [Data([4]), Data()]), Field("theme", \.theme, .dark),
            Field("level", \.level, .high),
            Field("shape", \.shape, .circle(radius: 1.5)), Field("shapes", \.shapes, [.point, .circle(radius: 2)]),
            Field("entry", \.entry, entry),
            Field("entries", \.entries, [Entry(title: "y", when: day + 3, cover: Data([255, 0]))]),
            Field("wait", \.wait, .milliseconds(1_500)),
            Field("site", \.site, URL(string: "https://example.org/a?b") ?? URL(filePath: "/")),
            Field("price", \.price, Decimal(string: "1.25") ?? 0), Field("id", \.id, UUID()),
            Field("byTheme", \.byTheme, [.dark: 2]), Field("byNumber", \.byNumber, [3: "c"]),
        ]
    }

    enum Form: CaseIterable {
        case standard, isoDates, bytes

        var encoder: JSONEncoder {
            let encoder = JSONEncoder()
            if self == .isoDates { encoder.dateEncodingStrategy = .iso8601 }
            if self == .bytes { encoder.dataEncodingStrategy = .deferredToData }
            return encoder
        }
    }

    private func prefs(in data: Data) throws -> ConfigPrefs {
        try data.write(to: url)
        return ConfigPrefs(store: .propertyList(url: url, format: .json, layout: .flat))
    }

    @Test(arguments: Form.allCases) func whatJSONEncoderWritesIsReadExactlyAndKept(_ form: Form) throws {
        let fields = Self.fields
        let json = try fields.map { try $0.json(form.encoder) }
        let data = Data("{\(json.joined(separator: ","))}".utf8)
        let prefs = try prefs(in: data)
        for field in fields { field.check(prefs) }
        #expect(prefs.describe().allSatisfy { $0.source == .stored } && prefs.lastError == nil)
        // An assignment of what was read writes nothing.
        for field in fields { field.assign(prefs) }
        #expect(prefs.lastError == nil)
        #expect(try Data(contentsOf: url) == data)
    }

    private func entries() throws -> [String: NSObject] {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        return try #require(object as? [String: NSObject])
    }

    @Test func whatCannotBeReadSaysWhatWasExpected() throws {
        let text = """
            {"since": "tomorrow", "icon": "?", "wait": "long", "entry": {"title": "", "when": true, "moments": [], "wait": 1}}
            """
        let prefs = try prefs(in: Data(text.utf8))
        let date = #"expected Date ("2026-11-21T19:02:43Z" or seconds since 2001), found "#
        _ = prefs.since
        #expect(prefs.lastError?.description == "since: \(date)a string")
        _ = prefs.icon
        #expect(prefs.lastError?.description == #"icon: expected Data (base64 such as "AQID"), found a string"#)
        _ = prefs.wait
        #expect(
            prefs.lastError?.description == #"wait: expected Duration ("PT1M30S", "90s" or seconds), found a string"#)
        _ = prefs.entry
        #expect(prefs.lastError?.description == "entry.when: \(date)a Boolean")
        prefs.theme = .dark
        #expect(try entries()["since"] == "tomorrow" as NSString, "what cannot be read stays")
    }

    /// The forms are read only in JSON. In other formats, such a text is of another type, and stays.
    @Test func aPropertyListIsReadExactly() throws {
        let store = PrefsStore.memory()
        try store.update(root: "ConfigPrefs") { $0 = ["since": "2026-11-21", "icon": "AQID", "until": 5.0] }
        let prefs = ConfigPrefs(store: store)
        #expect(prefs.since == Date(timeIntervalSinceReferenceDate: 0) && prefs.icon == Data() && prefs.until == nil)
        #expect(prefs.lastError?.description == "until: expected Date, found a real number")
    }

    @Test func layersAreWrittenByPeople() throws {
        let url = folder.file("layer.json")
        try Data(#"{"since": "2026-11-21", "entry": {"title": "a", "when": 5, "moments": [], "wait": "2s"}}"#.utf8)
            .write(to: url)
        let prefs = ConfigPrefs(
            store: .layered(
                PrefsStore.propertyList(url: folder.file("base.json"), format: .json, layout: .flat),
                below: [.file(url)])
        )
        #expect(prefs.since == Date(timeIntervalSince1970: 1_795_219_200))
        #expect(prefs.entry == Entry(title: "a", when: Date(timeIntervalSinceReferenceDate: 5), wait: .seconds(2)))
        #expect(prefs.lastError == nil && prefs.$since.source == .layer(url.path))
    }

    // MARK: - JSON in an entry

    final class JSONPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(coding: .json) var entry = Entry()
        @Pref(coding: .jsonData) var data = Entry()
        @Pref(coding: .json) var entries: [Entry] = []
        @Pref(coding: .json) var byName: [String: Entry] = [:]
        @Pref(coding: .json) var theme: Theme? = nil
    }

    @Test func jSONInAnEntryIsReadAndWritten() throws {
        let store = PrefsStore.memory()
        let json = try JSONEncoder().encode(Self.entry)
        let text = String(decoding: json, as: UTF8.self)
        // In the forms of Defaults: a text, an array of texts, a dictionary of texts.
        try store.update(root: "JSONPrefs") {
            $0 = ["entry": text, "data": json, "entries": [text, text], "byName": ["a": text], "theme": "\"dark\""]
        }
        let prefs = JSONPrefs(store: store)
        #expect(prefs.entry == Self.entry && prefs.data == Self.entry)
        #expect(prefs.entries == [Self.entry, Self.entry] && prefs.byName == ["a": Self.entry])
        #expect(prefs.theme == .dark && prefs.lastError == nil)
        prefs.theme = nil
        #expect(!prefs.$theme.isStored)
        prefs.entry.title = "new"
        prefs.data.title = "new"
        prefs.entries.removeLast()
        let stored = try #require(try store.read(root: "JSONPrefs"))
        for (key, data) in [
            ("entry", (stored["entry"] as? String).map { Data($0.utf8) }), ("data", stored["data"] as? Data),
        ] {
            #expect(try JSONDecoder().decode(Entry.self, from: #require(data)).title == "new", "\(key)")
        }
        #expect((stored["entries"] as? String)?.hasPrefix("[{") == true && prefs.entries == [Self.entry])
        try store.update(root: "JSONPrefs") { $0 = ["entry": "{", "data": 5] }
        #expect(
            prefs.entry == Entry() && prefs.lastError?.description == "entry: the stored value is not a valid Entry")
        #expect(
            prefs.data == Entry()
                && prefs.lastError?.description == #"data: expected JSON in a string or in data, such as {"size": 12}"#)
    }

    /// In every form of Foundation's encoder, and with its keys in order, so that equal values are equal texts.
    @Test(arguments: Form.allCases) func jSONInAnEntryMayHaveEveryForm(_ form: Form) throws {
        let store = PrefsStore.memory()
        let json = try form.encoder.encode(Self.entry)
        try store.update(root: "JSONPrefs") {
            $0 = ["entry": String(decoding: json, as: UTF8.self), "data": json, "byName": ["a\"\\": json, "b": json]]
        }
        let prefs = JSONPrefs(store: store)
        #expect(prefs.entry == Self.entry && prefs.data == Self.entry)
        #expect(prefs.byName == ["a\"\\": Self.entry, "b": Self.entry] && prefs.lastError == nil)
        prefs.entry.title = "a/b"
        let sorted = JSONEncoder()
        sorted.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(prefs["entry"] as? String == String(decoding: try sorted.encode(prefs.entry), as: UTF8.self))
    }

    @Test(arguments: ["\"soon\"", "true", "{}"]) func jSONOfAnotherDateIsNoValue(_ date: String) throws {
        let store = PrefsStore.memory()
        let text = #"{"title": "", "when": \#(date), "moments": [], "wait": [0, 0]}"#
        try store.update(root: "JSONPrefs") { $0 = ["entry": text] }
        let prefs = JSONPrefs(store: store)
        #expect(prefs.entry == Entry() && prefs.lastError.kind == "typeMismatch")
        // One entry that is no JSON makes the whole another value.
        let good = String(decoding: try JSONEncoder().encode(Self.entry), as: UTF8.self)
        try store.update(root: "JSONPrefs") {
            $0 = ["entries": [good, 5] as [Any], "byName": ["a": good, "b": 5] as [String: Any]]
        }
        #expect(prefs.entries.isEmpty && prefs.lastError.kind == "typeMismatch")
        #expect(prefs.byName.isEmpty && prefs.lastError.kind == "typeMismatch")
    }

    /// Every write path compares with the value that the class reads, and does not change equal values.
    @Test func everyWayToWriteKeepsTheForm() throws {
        let text = #"{"since": "2026-11-21", "icon": "AQID", "wait": "90s", "theme": "dark"}"#
        let prefs = try prefs(in: Data(text.utf8))
        let day = Date(timeIntervalSince1970: 1_795_219_200)
        #expect(prefs["since"] as? Date == day && prefs.values["icon"] as? Data == Data([1, 2, 3]))
        prefs["since"] = day
        prefs.values = prefs.values
        prefs.update { $0["icon"] = Data([1, 2, 3]) }
        #expect(prefs.import(Data(text.utf8), merge: false) == nil)
        if let export = prefs.exported(as: .json) { #expect(prefs.import(export, merge: true) == nil) }
        #expect(try self.text() == text && prefs.lastError == nil)
        // Values that are not assigned keep their form.
        prefs["theme"] = "light"
        let after = try entries()
        #expect(after["since"] == "2026-11-21" as NSString && after["icon"] == "AQID" as NSString)
        #expect(after["wait"] == "90s" as NSString && after["theme"] == "light" as NSString)
        let copy = ConfigPrefs(store: .memory())
        copy.values = prefs.values
        #expect(copy.lastError == nil && copy.since == day && copy.wait == .seconds(90))
    }

    final class FloatPrefs: PersistentPrefs, @unchecked Sendable {
        struct Point: Codable, Equatable {
            var x: Float
            var name = "p"
        }
        @Pref var ratio = Float(0)
        @Pref var list: [Float] = []
        @Pref var point: Point?
        @Pref var number = 0.0
        @Pref var odd = 0.0
        @Pref var set: Set<Int> = []
        @Pref var id = UUID()
        @Pref var part = Entry()
    }

    @Test func otherFormsAreKept() throws {
        let text = """
            {"ratio": 0.1, "set": [3, 1, 2], "id": "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", "number": 1,
             "part": {"when": "2026-11-21"}}
            """
        try put(text)
        let prefs = FloatPrefs(store: .json(url: url))
        (prefs.ratio, prefs.set, prefs.id, prefs.number) = (prefs.ratio, prefs.set, prefs.id, prefs.number)
        let part = prefs.part
        prefs.part = part
        #expect(prefs.lastError == nil && prefs.ratio == 0.1 && prefs.set == [1, 2, 3])
        #expect(try self.text() == text)
    }

    /// A Float is written with the digits that Swift prints, and reads as the same Float. A Double keeps its value.
    @Test func aFloatHasTheShortestDigits() throws {
        let prefs = FloatPrefs(store: .json(url: url))
        let values: [Float] = [
            0.3, 0.1, -2.7, 1.1e-30, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 16_777_216, 0.5, -0.0, 1e10,
        ]
        prefs.update {
            prefs.ratio = 0.3
            prefs.list = values
            prefs.point = FloatPrefs.Point(x: 0.7)
            prefs.number = Double(Float(0.3))
            prefs.odd = 0.3
        }
        #expect(prefs.lastError == nil)
        let text = try self.text()
        for line in [
            "\"ratio\": 0.3\n", #""x": 0.7"#, #""number": 0.30000001192092896,"#, #""odd": 0.3,"#, "-2.7,", "1.1e-30",
        ] {
            #expect(text.contains(line), "\(line): \(text)")
        }
        for reader in [prefs, FloatPrefs(store: .json(url: url))] {
            #expect(reader.ratio == 0.3 && reader.point == FloatPrefs.Point(x: 0.7))
            #expect(reader.list.map(\.bitPattern) == values.map(\.bitPattern))
            #expect(reader.number == Double(Float(0.3)) && reader.odd == 0.3 && reader.lastError == nil)
        }
        prefs.ratio = 0.3
        prefs.list = values
        #expect(try self.text() == text, "an equal write")
        prefs.ratio += 0.4
        #expect(try self.text().contains("\"ratio\": \(Float(0.3) + 0.4)\n"))
    }

    /// Seconds after the beginning of the day in UTC.
    @Test(
        arguments: [
            ("T10:00:00+01", 32_400), ("T10:00:00+0130", 30_600), ("T10:00:00-03:30", 48_600), ("T10:00:00-05", 54_000),
            ("T10:00:00.5-00:15", 36_900.5), ("T23:30:00-23:59", 170_940), ("T00:00:00+23:59", -86_340),
            ("T10:00:00Z", 36_000), ("", 0),
        ] as [(String, Double)])
    func aMomentMayHaveAnOffset(_ time: String, _ seconds: Double) throws {
        let prefs = try prefs(in: Data("{\"since\": \"2026-11-28\(time)\"}".utf8))
        #expect(prefs.since == Date(timeIntervalSinceReferenceDate: 817_516_800 + seconds) && prefs.lastError == nil)
    }

    @Test(
        arguments: [
            "+24:00", "+01:60", "+1", "+013", "+01:3", "+0a:00", "+01:00:00", "+", "", "Z+01:00", "+01:00Z", "z", ".Z",
            ".5",
        ])
    func anotherOffsetIsNone(_ offset: String) throws {
        let prefs = try prefs(in: Data("{\"since\": \"2026-11-28T10:00:00\(offset)\"}".utf8))
        #expect(prefs.since == Date(timeIntervalSinceReferenceDate: 0) && prefs.lastError.kind == "typeMismatch")
    }

    /// One element that is no byte makes the list another value.
    @Test(arguments: ["[1, 256]", "[1, -1]", "[1, 1.5]", "[1, null]", "[true]"]) func anotherListIsNoData(
        _ list: String
    ) throws {
        let prefs = try prefs(in: Data("{\"icon\": \(list)}".utf8))
        #expect(prefs.icon == Data())
        #expect(prefs.lastError?.description == #"icon: expected Data (base64 such as "AQID"), found an array"#)
    }

    /// The default gives the fields that are missing, unless the object is another one.
    @Test func anEmptyObjectIsAStruct() throws {
        let prefs = try prefs(in: Data(#"{"entry": {}, "entries": [{"x": 1}]}"#.utf8))
        #expect(prefs.entry == Entry() && prefs.lastError == nil && prefs.$entry.source == .stored)
        #expect(prefs.entries.isEmpty && prefs.lastError != nil)
    }

    @Test func aFloatInPlaceOfAWholeNumberHasTheShortestDigits() throws {
        try put(#"{"ratio": 1, "list": [1, 2]}"#)
        let prefs = FloatPrefs(store: .json(url: url))
        (prefs.ratio, prefs.list) = (0.3, [0.1, 2])
        #expect(try text() == #"{"ratio": 0.3, "list": [0.1, 2]}"#)
    }

    /// As the last one is written.
    @Test func aNewElementHasTheFormOfTheOthers() throws {
        let prefs = try prefs(in: Data(#"{"moments": [5, "2026-11-01"], "parts": [[1]]}"#.utf8))
        prefs.moments.append(Date(timeIntervalSinceReferenceDate: 817_516_800))
        prefs.parts.append(Data([2]))
        #expect(try text() == #"{"moments": [5, "2026-11-01", "2026-11-28"], "parts": [[1], [2]]}"#)
    }

    @Test func changesAreReportedWithTheirValues() throws {
        let prefs = try prefs(in: Data(#"{"since": "2026-11-21"}"#.utf8))
        let heard = Heard<String>()
        let observations = [
            prefs.$since.onChange {
                heard.append("\($0.timeIntervalSinceReferenceDate) \($1.timeIntervalSinceReferenceDate)")
            },
            prefs.onChange { heard.append("\($0.oldValues["since"] is Date) \($0.newValues["since"] is Date)") },
        ]
        try Data(#"{"since": 5}"#.utf8).write(to: url, options: .atomic)
        #expect(heard.wait(for: 2).sorted() == ["816912000.0 5.0", "true true"])
        observations.forEach { $0.cancel() }
    }

    @Test func aFileWithTheSchemaAloneIsReadAndKept() throws {
        let text = #"{"$schema": "schema.json"}"#
        let prefs = try prefs(in: Data(text.utf8))
        #expect(prefs.lastError == nil && prefs.problems().isEmpty)
        prefs.theme = .dark
        prefs.$theme.reset()
        #expect(try entries() == ["$schema": "schema.json" as NSString] && prefs.lastError == nil)
    }
}
