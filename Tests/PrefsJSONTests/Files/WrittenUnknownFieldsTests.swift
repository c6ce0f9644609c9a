import Foundation
import PersistentPreferences
import PrefsJSON
import Testing

@testable import PrefsKeys

/// A struct in a JSON file may have a form that a person has written *and* a field that its type does not know. A write
/// keeps both, in each place of the struct and by each way to write.
@Suite final class WrittenUnknownFieldsTests: FolderSuite {
    struct Entry: Codable, Equatable {
        var title = ""
        var when = Date(timeIntervalSinceReferenceDate: 0)
        var cover = Data()
        var wait = Duration.zero
    }

    final class EntryPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var entry = Entry()
        @Pref var optional: Entry? = nil
        @Pref var entries: [Entry] = []
        @Pref var named: [String: Entry] = [:]
    }

    private struct EntryKey: PrefKey {
        static let defaultValue = Entry()
        static let stringKey = "entry"
    }

    /// The fields as a person has written them.
    private static let forms = [
        #""when": "2026-11-01", "cover": {"$data": ""}, "wait": "PT0S""#,
        #""when": 12.5, "cover": {"$data": ""}, "wait": "PT0S""#,
        #""when": {"$date": "2026-11-01T00:00:00Z"}, "cover": "AQID", "wait": "PT0S""#,
        #""when": {"$date": "2026-11-01T00:00:00Z"}, "cover": [1, 2], "wait": "PT0S""#,
        #""when": {"$date": "2026-11-01T00:00:00Z"}, "cover": {"$data": ""}, "wait": "90s""#,
        #""when": "2026-11-01", "cover": "AQID", "wait": "90s""#,
    ]

    /// A place of an entry, and a way to write to it.
    fileprivate struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The text of a file, with # for the entry.
        let text: String
        let setTitle: @Sendable (PrefsStore) -> Void

        init(_ name: String, _ text: String, setTitle: @escaping @Sendable (PrefsStore) -> Void) {
            (testDescription, self.text, self.setTitle) = (name, text, setTitle)
        }
    }

    private static let ways = [
        Way("entry", "{\"entry\": #}") { EntryPrefs(store: $0).entry.title = "new" },
        Way("modified", "{\"entry\": #}") { EntryPrefs(store: $0).$entry.modify { $0.title = "new" } },
        Way("optional", "{\"optional\": #}") { EntryPrefs(store: $0).optional?.title = "new" },
        Way("element", "{\"entries\": [#]}") { EntryPrefs(store: $0).entries[0].title = "new" },
        Way("member", "{\"named\": {\"a\": #}}") { EntryPrefs(store: $0).named["a"]?.title = "new" },
        Way("key", "{\"entry\": #}") { AppSettingsValues(entriesOf: $0)[EntryKey.self].title = "new" },
    ]

    @Test(arguments: ways, forms) fileprivate func bothSurviveAWrite(_ way: Way, _ form: String) throws {
        let text = way.text.replacing("#", with: "{\"title\": \"old\", \(form), \"theirs\": 7}")
        try put(text)
        // Also the untyped value has them.
        let entry = EntryPrefs(store: .json(url: url))["entry"] as? [String: Any]
        #expect(entry == nil || entry?["theirs"] as? Int == 7)
        way.setTitle(PrefsStore.json(url: url))
        #expect(try self.text() == text.replacing("old", with: "new"))
    }
}
