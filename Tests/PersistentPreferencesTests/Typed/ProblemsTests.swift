@testable import EngineSupport
@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsStoreKit
import Testing

private final class FontPrefs: PersistentPrefs, @unchecked Sendable {
    struct Window: Codable { var title = "", width = 100 }

    @Pref(.formerly("fontsize")) var fontSize = 12
    @Pref(.in(["light", "dark"])) var theme = "light"
    @Pref var window = Window()
    @Pref var since = Date(timeIntervalSinceReferenceDate: 0)

    override class var migrations: [PrefsMigration] { [PrefsMigration(to: 1) { _ in }] }
}

/// `problems()` lists what the class cannot read, and changes nothing.
@Suite(.waits) struct ProblemsTests {
    private let folder = TemporaryFolder.fresh

    private func texts(_ prefs: PersistentPrefs) -> [String] { prefs.problems().map(\.description) }

    @Test func valuesThatCannotBeReadAndTypingErrorsAreListed() throws {
        let store = PrefsStore.memory()
        try store.update(root: "FontPrefs") {
            $0 = ["fontSize": "big", "theme": "pink", "window": ["title": "a", "width": "wide"], "other": 1]
        }
        let prefs = FontPrefs(store: store)
        prefs.lastError = nil
        #expect(
            texts(prefs) == [
                "fontSize: expected Int, found a string", "theme: must be one of light, dark",
                "window.width: expected Int, found a string",
            ])
        #expect(prefs.lastError == nil)
        try store.update(root: "FontPrefs") { $0 = ["fontSzie": 5, "them": "dark", "newInVersion3": 1] }
        #expect(
            texts(prefs) == [
                #"fontSzie: is not a key of FontPrefs; did you mean "fontSize"?"#,
                #"them: is not a key of FontPrefs; did you mean "theme"?"#,
            ])
        try store.update(root: "FontPrefs") { $0 = ["fontSize": 5, "theme": "dark"] }
        #expect(prefs.problems().isEmpty)
        prefs.deleteRoot()
        #expect(prefs.problems().isEmpty)
    }

    /// A flat file that a person has written: every key that is not known. The version, the schema and former keys are.
    @Test func aFlatJSONFileHasNoOtherKeys() throws {
        let url = folder.file("config.json")
        let text = """
            {"$schema": "schema.json", "PersistentPreferences version": 1, "fontsize": 9, "them": "dark", "unrelated": 1,
             "since": "2026-11-21"}
            """
        try Data(text.utf8).write(to: url)
        let prefs = FontPrefs(store: .propertyList(url: url, format: .json, layout: .flat))
        #expect(
            texts(prefs) == [
                #"them: is not a key of FontPrefs; did you mean "theme"?"#,
                "unrelated: is not a key of FontPrefs",
            ])
        try Data(#"{"since": "yesterday"}"#.utf8).write(to: url)
        #expect(
            texts(prefs) == [#"since: expected Date ("2026-11-21T19:02:43Z" or seconds since 2001), found a string"#])
    }

    private final class ViewPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref("view", .formerly("window size", "frame")) var view = ""
        override class var versionKey: String { "view version" }
        override class var migrations: [PrefsMigration] { [PrefsMigration(to: 3) { _ in }] }
    }

    /// Their keys, their former keys and their versions.
    @Test func whatBelongsToAnotherClassOfTheFileIsNoProblem() throws {
        let url = folder.file("shared.json")
        let text = #"{"view version": 3, "view": "a", "window size": 5, "frame": "b", "fontSize": 9, "frames": 1}"#
        try Data(text.utf8).write(to: url)
        func store() -> PrefsStore { .propertyList(url: url, format: .json, layout: .flat) }
        let prefs = FontPrefs(store: store())
        #expect(texts(prefs).count == 5)
        let other = ViewPrefs(store: store())
        #expect(texts(prefs) == ["frames: is not a key of FontPrefs"])
        _ = other
    }

    @Test func aFileThatCannotBeReadIsOneProblem() throws {
        let url = folder.file("settings.plist")
        let prefs = FontPrefs(store: .propertyList(url: url))
        prefs.fontSize = 5
        try Data("x".utf8).write(to: url)
        let problems = prefs.problems()
        #expect(problems.count == 1 && problems[0].path.isEmpty && problems[0].reason.contains("the file is unchanged"))
        #expect("\(problems[0])".hasPrefix("\(url.path): "))
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        #expect(prefs.problems().count == 1)
        let store = PrefsStore.memory()
        try store.update(root: "FontPrefs") { $0 = ["PersistentPreferences version": 1, "theme": 5] }
        #expect(texts(FontPrefs(store: store)) == ["theme: expected String, found an integer"])
    }

    @Test func layersHaveProblemsToo() throws {
        let layers = PrefsStore.layered(
            PrefsStore.memory(), above: [.arguments(["p", "-fontSize", "big"])], below: [.values(["theme": "pink"])])
        #expect(
            texts(FontPrefs(store: layers)) == [
                #"-fontSize: arguments: expected Int, found "big": not a number"#,
                "theme: values: must be one of light, dark",
            ])
    }
}
