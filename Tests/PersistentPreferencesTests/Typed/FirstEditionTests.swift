import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

private enum Mode: String, Codable { case plain, rich }
private enum Level: Int { case low = 1, high = 5 }

private struct Window: Codable, Equatable {
    var width = 0
    var title: String? = nil
    var tags: [String] = []
}

private final class FirstEditorPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var text = ""
    @Pref var number = 0
    @Pref var real = 0.0
    @Pref var flag = false
    @Pref var date = Date(timeIntervalSinceReferenceDate: 0)
    @Pref var data = Data()
    @Pref var page = URL(filePath: "/")
    @Pref var amount = Decimal(0)
    @Pref var mode = Mode.plain
    @Pref var level = Level.low
    @Pref var window = Window()
    @Pref var windows: [String: Window] = [:]
    @Pref var numbers: Set<Int> = []
    @Pref var modes: [Mode?] = []
    @Pref var big = UInt64(0)

    override class var migrations: [PrefsMigration] { [PrefsMigration(to: 3) { _ in fatalError("it has version 3") }] }
}

private struct FirstPlayerSettings: SettingsFile, Equatable {
    var volume = 0.8
    var skills = ["jump"]
    var price = Decimal(1)
    var started: Date? = nil

    static let location = Locked(URL(filePath: "/"))
    static var settingsURL: URL { location.withLock { $0 } }
}

/// Files that a program with the first edition of this package has written are read unchanged.
@Suite struct FirstEditionTests {
    private func copy(of name: String) throws -> (folder: TemporaryFolder, url: URL) {
        let folder = try TemporaryFolder()
        let file = try #require(
            Bundle.module.url(forResource: name, withExtension: "plist", subdirectory: "FirstEdition"))
        try FileManager.default.copyItem(at: file, to: folder.file())
        return (folder, folder.file())
    }

    @Test(arguments: ["FirstEdition", "FirstEditionXML"]) func everyValueIsRead(_ name: String) throws {
        let (folder, url) = try copy(of: name)
        let bytes = try Data(contentsOf: url)
        let prefs = FirstEditorPrefs(key: "EditorPrefs", store: .propertyList(url: url))
        #expect(prefs.text == "naïve <&> 😀" && prefs.number == -42 && prefs.real == 0.1 && prefs.flag)
        #expect(
            prefs.date == Date(timeIntervalSinceReferenceDate: 700_000_000) && prefs.data == Data([0, 1, 254, 255]))
        #expect(prefs.page.absoluteString == "https://example.org/a?b=c")
        #expect(prefs.amount == Decimal(string: "12345678901234567890.123456789"))
        #expect(prefs.mode == .rich && prefs.level == .high && prefs.big == .max)
        #expect(prefs.window == Window(width: 640, title: "main", tags: ["a", "b"]))
        #expect(prefs.windows == ["one": Window(width: 1), "two": Window(width: 2, title: "$null")])
        #expect(prefs.numbers == [1, 2, 3] && prefs.modes == [.plain, nil, .rich])
        #expect(prefs.lastError == nil && prefs.values.count == 15)
        #expect(try Data(contentsOf: url) == bytes && folder.names() == ["test.plist"])
        prefs.number += 1
        #expect(prefs.number == -41 && prefs.lastError == nil && prefs.windows.count == 2)
    }

    @Test func settingsAreLoaded() throws {
        let (folder, url) = try copy(of: "PlayerSettings")
        FirstPlayerSettings.location.withLock { $0 = url }
        var settings = FirstPlayerSettings()
        try settings.tryLoad()
        let started = Date(timeIntervalSinceReferenceDate: 600_000_000)
        let price = try #require(Decimal(string: "9.99"))
        #expect(settings == FirstPlayerSettings(volume: 0.25, skills: ["run", "swim"], price: price, started: started))
        #expect(try folder.names() == ["test.plist"])
    }
}
