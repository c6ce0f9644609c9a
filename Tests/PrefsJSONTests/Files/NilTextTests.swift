import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsSettingsFiles
import PrefsStoreKit
import Testing
import TestSupport

/// Texts that stand for nil in a property list are ordinary texts in a JSON file, which has null.
@Suite final class NilTextTests: FolderSuite {
    struct Note: Codable, Equatable {
        var title = "$null"
        var body: String? = "$$null"
        var tags: [String?] = ["$null", nil]
        var pages: [Int?] = []
        var counts: [String: Int?] = [:]
    }

    /// Reads only the exact form of a date, so that its values are written in the exact form.
    struct Stamp: Codable, Equatable {
        var when: Date
        var text: String?

        init(when: Date, text: String?) { (self.when, self.text) = (when, text) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if (try? container.decode(String.self, forKey: .when)) != nil { throw CocoaError(.coderReadCorrupt) }
            when = try container.decode(Date.self, forKey: .when)
            text = try container.decode(String?.self, forKey: .text)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(when, forKey: .when)
            try container.encode(text, forKey: .text)
        }

        enum CodingKeys: CodingKey { case when, text }
    }

    final class NotePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var note = Note()
        @Pref var notes: [Note] = []
        @Pref var texts: [String?] = []
        @Pref var plain: [String] = []
        @Pref var byName: [String: String?] = [:]
        @Pref var rows: [[String]?] = []
        @Pref var text: String?
        @Pref var stamps: [Stamp] = []
        @Pref var odd: Int?? = 5
        @Pref var any: [String: Any] = [:]
    }

    private func prefs(_ text: String) throws -> NotePrefs {
        try put(text)
        return NotePrefs(store: .json(url: url))
    }

    private func assign(_ prefs: NotePrefs) {
        prefs.update {
            prefs.note = Note(pages: [1, nil], counts: ["$null": nil])
            prefs.notes = [Note(title: "$$null", body: nil)]
            prefs.texts = ["$null", nil, "$$null", "$$$null"]
            prefs.plain = ["$null", "$$null"]
            prefs.byName = ["a": "$null", "b": nil]
            prefs.rows = [["$null"], nil]
            prefs.text = "$null"
            prefs.stamps = [
                Stamp(when: Date(timeIntervalSinceReferenceDate: 0.5), text: "$null"),
                Stamp(when: Date(timeIntervalSinceReferenceDate: 1), text: nil),
            ]
            prefs.odd = .some(nil)
            prefs.any = ["a": "$null", "b": ["$$null"]]
        }
    }

    private func check(_ prefs: NotePrefs) {
        #expect(prefs.note == Note(pages: [1, nil], counts: ["$null": nil]))
        #expect(prefs.notes == [Note(title: "$$null", body: nil)])
        #expect(prefs.texts == ["$null", nil, "$$null", "$$$null"] && prefs.plain == ["$null", "$$null"])
        #expect(prefs.byName == ["a": "$null", "b": nil] && prefs.rows == [["$null"], nil] && prefs.text == "$null")
        #expect(prefs.stamps.map(\.text) == ["$null", nil] && prefs.odd == .some(nil))
        #expect(prefs.any["a"] as? String == "$null" && prefs.any["b"] as? [String] == ["$$null"])
        #expect(prefs.lastError == nil && prefs.problems().isEmpty)
    }

    @Test func aTextIsWrittenAsItIs() throws {
        let prefs = try prefs("{}")
        assign(prefs)
        check(prefs)
        check(NotePrefs(store: .json(url: url)))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        #expect(
            object["texts"] as? [NSObject] == [
                "$null" as NSString, NSNull(), "$$null" as NSString, "$$$null" as NSString,
            ])
        #expect(object["byName"] as? [String: NSObject] == ["a": "$null" as NSString, "b": NSNull()])
        let note = object["note"] as? [String: Any]
        #expect(note?["title"] as? String == "$null" && note?["body"] as? String == "$$null")
        #expect(note?["tags"] as? [NSObject] == ["$null" as NSString, NSNull()])
        let stamps = object["stamps"] as? [[String: Any]]
        #expect(stamps?[0]["text"] as? String == "$null" && stamps?[1]["text"] is NSNull)
        // A program without this package reads the note.
        #expect(
            try JSONDecoder().decode(Note.self, from: JSONSerialization.data(withJSONObject: note ?? [:])) == prefs.note
        )
        // A write of another value changes none of them, and neither does an equal one.
        let text = try self.text()
        prefs.values = prefs.values
        prefs.note = prefs.note
        prefs.texts = prefs.texts
        #expect(try self.text() == text && prefs.lastError == nil)
    }

    @Test func whatPeopleWriteIsReadAsItIs() throws {
        let text =
            #"{"texts": ["$null", null, "$$null"], "note": {"title": "$null", "own": "$null"}, "notes": [{"body": null}]}"#
        let prefs = try prefs(text)
        #expect(prefs.texts == ["$null", nil, "$$null"])
        #expect(prefs.note == Note(body: nil), "the default gives the other fields")
        prefs.note.pages = [1]
        #expect(try self.text().contains(#""title": "$null", "own": "$null""#) && prefs.lastError == nil)
        #expect(NotePrefs(store: .json(url: url)).note == prefs.note)
    }

    @Test(arguments: [FileFormat.binary, .plainXML]) func aPropertyListHasMarkers(_ format: FileFormat) throws {
        let store = PrefsStore.propertyList(url: folder.file("x.plist"), format: format, durability: .crash)
        let prefs = NotePrefs(store: store)
        assign(prefs)
        let stored = try #require(try store.read(root: "NotePrefs"))
        #expect(stored["texts"] as? [String] == ["$$null", "$null", "$$$null", "$$$$null"])
        #expect((stored["note"] as? [String: Any])?["title"] as? String == "$$null")
        prefs.stamps = []
        #expect(NotePrefs(store: store).texts == prefs.texts && NotePrefs(store: store).note == prefs.note)
    }

    /// An export is a property list in JSON.
    @Test func anExportIsImportedAgain() throws {
        let prefs = try prefs("{}")
        assign(prefs)
        let export = try #require(prefs.exported(as: .json))
        let copy = NotePrefs(store: .memory())
        #expect(copy.import(export, merge: false) == nil)
        check(copy)
        try put("{}")
        let file = NotePrefs(store: .json(url: url))
        #expect(file.import(export, merge: false) == nil)
        check(file)
    }

    struct Draft: SettingsFile, Equatable {
        var text = "$null"
        var maybe: String? = "$$null"
        var list: [String?] = ["$null", nil]
        var count: [Int?] = [nil]

        static var settingsFormat: FileFormat { .json }
        static var settingsURL: URL { url }
        @TaskLocal static var url = URL(filePath: "/nowhere")
    }

    @Test func aSettingsFileHasTheTexts() throws {
        try Draft.$url.withValue(url) {
            var draft = Draft()
            try draft.tryLoad()
            #expect(draft == Draft())
            let text = try self.text()
            #expect(
                text.contains(#""text": "$null""#) && text.contains(#""maybe": "$$null""#)
                    && text.contains("null,") == false)
            draft.maybe = "$null"
            try draft.trySave()
            var other = Draft()
            try other.tryLoad()
            #expect(other == draft && other.toDictionary()?["maybe"] as? String == "$null")
            try put(#"{"maybe": "$null"}"#)
            try other.tryLoad()
            #expect(other == Draft(maybe: "$null"), "the initial values give the other fields")
            let wasReset = other.reset()
            #expect(wasReset && other == Draft())
            #expect(try self.text().contains(#""maybe": "$$null""#))
        }
    }
}
