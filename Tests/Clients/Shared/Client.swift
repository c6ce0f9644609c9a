import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsKeys
import PrefsLayers
import PrefsSettingsFiles
import PrefsStoreKit
import RVS_PersistentPrefs
import TestSupport
import Words

/// A program that uses the library as an app does, and checks itself. Its argument is an empty folder for its files.
@main struct Client {
    static func main() async throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
        let file = PrefsStore.propertyList(url: folder.appendingPathComponent("prefs.plist"))
        try typedProperties(PrefsStore.backend(AccountBackend(file)))
        await threads(EditorPrefs(store: file))
        await observation(EditorPrefs(key: "observed", store: file))
        keys(AppSettingsValues(store: .memory(), root: "App"))
        exportAndImport(EditorPrefs(store: .memory()))
        jsonFile(PrefsStore.json(url: folder.appendingPathComponent("config.json")))
        settingsFile(folder)
        dropIn(PrefsStore.memory())
        expect(testSupport == "the client's TestSupport" && words == "the client's Words", "names")
        print("ok")
    }

    static func typedProperties(_ store: PrefsStore) throws {
        let prefs = EditorPrefs(store: store)
        expect(
            prefs.fontSize == 12 && prefs.theme == .light && prefs.owner == nil && prefs.window.width == 800, "defaults"
        )
        prefs.fontSize += 2
        prefs.theme = .dark
        prefs.window.title = "notes"
        prefs.owner = Person(name: "Ann", age: 30)
        prefs.styles.insert(.bold)
        prefs.recent.append(URL(fileURLWithPath: "/tmp/notes.txt"))
        let other = EditorPrefs(store: store)
        expect(other.fontSize == 14 && other.theme == .dark && other.window.title == "notes", "stored values")
        expect(other.owner == Person(name: "Ann", age: 30) && other.styles == [.bold], "stored structures")
        prefs.columns = 99
        expect(prefs.lastError?.description == "columns: must be in 1...8", "a constraint")
        expect(prefs.columns == 1 && !prefs.$columns.isStored, "an unchanged value")
        let columns = try prefs.update {
            prefs.columns = 3
            return prefs.columns
        }.get()
        expect(columns == 3 && prefs.columns == 3, "an update")
        prefs.$columns.reset()
        expect(prefs.columns == 1 && prefs.allowedKeys.count == 7, "a reset")
        expect(try store.read(root: "EditorPrefs")?["fontSize"] as? Double == 14, "a store of the client's own")
    }

    static func threads(_ prefs: EditorPrefs) async {
        prefs.columns = 1
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<25 { prefs.update { prefs.fontSize += 1 } }
                }
            }
        }
        expect(prefs.fontSize == 114, "an exact count, not \(prefs.fontSize)")
    }

    @MainActor static func observation(_ prefs: EditorPrefs) async {
        let model = Model(prefs)
        var sizes = prefs.$fontSize.updates.makeAsyncIterator()
        var size = await sizes.next()
        expect(size == 12, "the first value of a sequence")
        prefs.fontSize = 20
        size = await sizes.next()
        expect(size == 20, "the next value of a sequence")
        while model.sizes.isEmpty { await Task.yield() }
        expect(model.sizes == [20], "a view model")
    }

    static func keys(_ values: AppSettingsValues) {
        let ruler = Ruler(values)
        ruler.width += 1
        values[margin.self].left = 4
        let player = Player(PrefsStore.memory())
        player.volume += 1
        player.token = "t"
        player.shade = .dark
        expect(player.volume == 1.5 && player.token == "t" && player.shade == .dark, "flat settings")
        values[shade.self] = .dark
        values[shades.self] = [.dark]
        expect(values[shade.self] == .dark && values[shades.self] == [.dark], "Codable enums")
        expect(values[columnWidth.self] == 81 && values[margin.self] == Margin(left: 4), "typed keys")
    }

    static func exportAndImport(_ prefs: EditorPrefs) {
        prefs.theme = .dark
        prefs.fontSize = 9.5
        let copy = EditorPrefs(store: .memory())
        for format in [ExportFormat.json, .xml, .binary] {
            copy.resetAll()
            guard let data = prefs.exported(as: format) else { return expect(false, "an export as \(format)") }
            expect(copy.import(data, merge: false) == nil && copy.theme == .dark && copy.fontSize == 9.5, "\(format)")
        }
    }

    static func jsonFile(_ file: PrefsStore) {
        let prefs = EditorPrefs(
            store: .layered(file, above: [.environment(prefix: "CLIENT_", in: ["CLIENT_columns": "5"])]))
        prefs.fontSize = 9.5
        let text = file.url.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
        expect(text == "{\n  \"fontSize\": 9.5\n}\n", "a JSON file")
        expect(prefs.columns == 5 && prefs.$columns.source == .layer("environment"), "a layer")
    }

    static func settingsFile(_ folder: URL) {
        var settings = PlayerSettings()
        settings.folder = folder
        expect(settings.load(), "a load")
        settings.volume = 0.5
        expect(settings.save(), "an update")
        settings.volume = 0.1
        expect(settings.load() && settings.volume == 0.5, "saved settings")
    }

    static func dropIn(_ store: PrefsStore) {
        let old = OldSet(key: "old", store: store)
        old.int = 5
        expect(OldSet(key: "old", store: store).int == 5, "the drop-in class")
        old["Nonsense"] = 1
        expect(old.failures == 1 && old.lastError != nil, "an observed error")
        old.lastError = nil
        expect(old.lastError == nil, "an assigned error")
        RVS_PersistentPrefs.groupID = "client.group"
        let grouped = OldSet(key: "old", values: ["Integer Value": 7])
        let stored = grouped.userDefaults?.dictionary(forKey: "old")
        expect(grouped.lastError == nil && stored?["Integer Value"] as? Int == 7, "a group")
        OldSet.groupID = nil
        expect(OldSet.groupID == nil && RVS_PersistentPrefs.groupID == "client.group", "a group of a class")
        grouped.deleteRoot()
    }

    nonisolated static func expect(_ condition: Bool, _ what: String) {
        guard !condition else { return }
        print("failed: \(what)")
        exit(1)
    }
}
