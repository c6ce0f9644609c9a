import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

/// The walkthroughs of seed 000, and what it leaves open.
@Suite(.inSettingsPlace) struct SettingsFileTests {
    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: SettingsPlace.folder.path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    private func printed(_ settings: some SettingsFile) -> String {
        (settings.toDictionary() ?? [:]).compactMapValues { $0 }.map { "\($0)=\($1)" }.sorted()
            .joined(separator: " ")
    }

    @Test @MainActor func theWalkthroughOfAppSettings() throws {
        let settings = AppSettings.shared
        succeeds(settings.load())
        #expect(try files() == ["AppSettings.plist", "AppSettings.plist.init"])
        settings.username = "gabriel"
        settings.fontSize = 14
        settings.isDark = true
        settings.lastOpened = "notes"
        succeeds(settings.update())
        #expect(printed(settings) == "fontSize=14.0 isDark=true lastOpened=notes username=gabriel")
        let other = AppSettings()
        succeeds(other.load())
        #expect(other == settings)
        succeeds(settings.reset())
        #expect(settings == AppSettings() && AppSettings.shared === settings)
        #expect(printed(settings) == "fontSize=12.0 isDark=false username=anonymous")
    }

    @Test func theWalkthroughOfPlayerSettings() throws {
        try SettingsPlace.$bundle.withValue(.module) { () throws in
            var settings = PlayerSettings()
            succeeds(settings.loadUsingSettingsFile())
            let initial = PlayerSettings(name: "Player One", level: 1, weapons: ["sling", "bow"], speed: 1.5)
            #expect(settings == initial)
            #expect(printed(settings).hasPrefix("level=1 name=Player One speed=1.5 weapons="))
            settings.level += 1
            settings.weapons[1] = "sword"
            succeeds(settings.update())
            #expect(
                try String(contentsOf: type(of: settings).settingsURL, encoding: .utf8).hasPrefix("<?xml"),
                "XML stays XML")
            var again = PlayerSettings()
            succeeds(again.loadUsingSettingsFile())
            #expect(again == settings, "the bundled file is looked at once")
            succeeds(settings.reset())
            #expect(settings == initial)
            succeeds(again.load())
            #expect(again == initial)
            #expect(try files() == ["PlayerSettings.plist"])
        }
    }

    @Test func everyKindOfTypeIsSavedAndLoaded() throws {
        var view = ViewSettings(volume: 7, window: .init(width: 1, title: nil), note: "x")
        succeeds(view.save())
        var other = ViewSettings()
        succeeds(other.load())
        #expect(other == view)
        var mode = ModeSettings.expert(level: 3)
        succeeds(mode.load())
        mode = .simple
        succeeds(mode.load())
        #expect(mode == .expert(level: 3))
        mode = .simple
        succeeds(mode.save())
        succeeds(mode.reset())
        #expect(mode == .expert(level: 3))
        view.window.title = "again"
        succeeds(view.delete())
        succeeds(!view.delete())
        #expect(told { view.delete() }.hasSuffix("ViewSettings.plist: the file does not exist"))
        succeeds(view.load())
        #expect(view.window.title == "again", "what was saved is not initial")
        #expect(!FileManager.default.fileExists(atPath: type(of: view).settingsURL.path + ".init"))
    }

    @Test func theFileIsReadAsADictionary() throws {
        let view = ViewSettings(volume: 9, note: nil)
        #expect(view.toDictionary() == nil && SettingsPlace.errors.withLock { $0.isEmpty })
        succeeds(view.save())
        let dictionary = try #require(view.toDictionary())
        #expect(dictionary["volume"] as? Int == 9 && dictionary["opened"] as? Date == view.opened)
        try Data("<plist><string>x</string></plist>".utf8).write(to: type(of: view).settingsURL)
        #expect(view.toDictionary() == nil)
        let message = "ViewSettings.plist: expected a dictionary, found a string; the stored state is unchanged"
        #expect(SettingsPlace.errors.withLock { $0.count == 1 && $0[0].hasSuffix(message) })
    }

    /// A load without a file is the document's `update()`.
    @Test func aLoadAfterADeletionCreatesTheFileFromTheValueInMemory() throws {
        var view = ViewSettings()
        succeeds(view.load())
        view.volume = 9
        succeeds(view.save() && view.delete())
        view.volume = 7
        succeeds(view.load())
        #expect(view.volume == 7 && view.toDictionary()?["volume"] as? Int == 7)
        succeeds(view.reset())
        #expect(view == ViewSettings(), "the initial values are those of the first load")
    }

    @Test func whatIsThereIsNotWrittenAgain() throws {
        var view = ViewSettings()
        view.opened = Date(timeIntervalSinceReferenceDate: 0.75)
        view.load()
        let before = try fileNumber(at: type(of: view).settingsURL)
        succeeds(view.save())
        succeeds(view.save())
        #expect(try fileNumber(at: type(of: view).settingsURL) == before)
    }
}
