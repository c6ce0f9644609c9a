@testable import PrefsSupport
import Foundation
import PersistentPreferences
import Testing

enum Theme: String, CaseIterable { case light, dark }

struct Person: Codable, Equatable {
    var name: String
    var quest: String
    var age: Int
}

/// The sample of the design, line by line.
final class EditorPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var fontSize = 12.0
    @Pref("Has Widgets") var hasWidgets = false
    @Pref var theme = Theme.light
    @Pref var owner: Person? = nil
    @Pref(.in(8...72)) var size = 12
    @Pref(.formerly("fontsize")) var fontName = "Menlo"
}

@Suite struct DesignSampleTests {
    private let folder = TemporaryFolder.fresh
    private var store: PropertyListFileStore { PropertyListFileStore(url: folder.file("sample.plist")) }

    private var stored: [String: Any]? {
        get throws { try store.read(root: "EditorPrefs") }
    }

    @Test func propertiesHaveKeysTypesAndDefaults() throws {
        let prefs = EditorPrefs(store: store)
        #expect(prefs.keys == ["fontSize", "Has Widgets", "theme", "owner", "size", "fontName"])
        #expect(prefs.fontSize == 12 && !prefs.hasWidgets && prefs.theme == .light && prefs.owner == nil)
        #expect(prefs.size == 12 && prefs.fontName == "Menlo")
        #expect(!FileManager.default.fileExists(atPath: folder.file("sample.plist").path))

        prefs.fontSize += 2
        prefs.hasWidgets.toggle()
        prefs.theme = .dark
        prefs.owner = Person(name: "Galahad", quest: "the Grail", age: 30)
        prefs.owner?.age += 1
        #expect(prefs.outcome == "ok")
        #expect(
            try exactForm(stored ?? [:])
                == exactForm([
                    "fontSize": 14.0 as NSNumber, "Has Widgets": true, "theme": "dark",
                    "owner": ["name": "Galahad", "quest": "the Grail", "age": 31 as NSNumber],
                ]))
        let other = EditorPrefs(store: store)
        #expect(other.owner == Person(name: "Galahad", quest: "the Grail", age: 31))
        #expect(other.theme == .dark && other.hasWidgets && other.fontSize == 14)
        prefs.owner = nil
        #expect(other.owner == nil && !other.$owner.isSet)
    }
}
