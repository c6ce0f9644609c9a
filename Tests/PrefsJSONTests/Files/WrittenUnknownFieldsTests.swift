import Foundation
import PersistentPreferences
import PrefsJSON
import TestSupport
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

    enum Way: CaseIterable {
        case entry, modified, optional, element, member, key
    }

    /// The text of a file with an entry in the place that the way writes to.
    private func text(_ way: Way, _ form: String) -> String {
        let entry = "{\"title\": \"old\", \(form), \"theirs\": 7}"
        return switch way {
        case .entry, .modified, .key: "{\"entry\": \(entry)}"
        case .optional: "{\"optional\": \(entry)}"
        case .element: "{\"entries\": [\(entry)]}"
        case .member: "{\"named\": {\"a\": \(entry)}}"
        }
    }

    private func setTitle(_ way: Way, _ store: JSONFileStore) {
        let prefs = EntryPrefs(store: store)
        switch way {
        case .entry: prefs.entry.title = "new"
        case .modified: prefs.$entry.modify { $0.title = "new" }
        case .optional: prefs.optional?.title = "new"
        case .element: prefs.entries[0].title = "new"
        case .member: prefs.named["a"]?.title = "new"
        case .key: AppSettingsValues(entriesOf: store)[EntryKey.self].title = "new"
        }
    }

    @Test(arguments: Way.allCases, forms) func bothSurviveAWrite(_ way: Way, _ form: String) throws {
        try put(text(way, form))
        // Also the untyped value has them.
        let entry = EntryPrefs(store: JSONFileStore(url: url))["entry"] as? [String: Any]
        #expect(entry == nil || entry?["theirs"] as? Int == 7)
        setTitle(way, JSONFileStore(url: url))
        #expect(try text() == text(way, form).replacing("old", with: "new"))
    }
}
