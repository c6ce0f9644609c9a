import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

/// The walkthroughs of seed 000, and what it leaves open.
@Suite struct SettingsFileTests {
    private func files(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("Settings").path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    private func printed(_ settings: some SettingsFile) -> String {
        (settings.toDictionary() ?? [:]).compactMapValues { $0 }.map { "\($0)=\($1)" }.sorted()
            .joined(separator: " ")
    }

    @Test @MainActor func theWalkthroughOfAppSettings() throws {
        try SettingsPlace.with { folder throws in
            let settings = AppSettings.shared
            succeeds(settings.load())
            #expect(try files(folder) == ["AppSettings.plist", "AppSettings.plist.init"])
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
    }

    @Test func theWalkthroughOfPlayerSettings() throws {
        try SettingsPlace.with { folder throws in
            var settings = PlayerSettings()
            succeeds(settings.loadUsingSettingsFile(in: .module))
            let initial = PlayerSettings(name: "Player One", level: 1, weapons: ["sling", "bow"], speed: 1.5)
            #expect(settings == initial)
            #expect(printed(settings).hasPrefix("level=1 name=Player One speed=1.5 weapons="))
            settings.level += 1
            settings.weapons[1] = "sword"
            succeeds(settings.update())
            #expect(try String(contentsOf: settings.settingsURL(), encoding: .utf8).hasPrefix("<?xml"), "XML stays XML")
            var again = PlayerSettings()
            succeeds(again.loadUsingSettingsFile(in: .module))
            #expect(again == settings, "the bundled file is looked at once")
            succeeds(settings.reset(in: .module))
            #expect(settings == initial)
            succeeds(again.load())
            #expect(again == initial)
            #expect(try files(folder) == ["PlayerSettings.plist"])
        }
    }

    @Test func everyKindOfTypeIsSavedAndLoaded() throws {
        try SettingsPlace.with { _ throws in
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
            #expect(failure { try view.tryDelete() } != "no error")
            succeeds(view.load())
            #expect(view.window.title == "again", "what was saved is not initial")
            #expect(!FileManager.default.fileExists(atPath: view.settingsURL().path + ".init"))
        }
    }

    @Test func aDictionaryIsSavedAsTheFile() throws {
        try SettingsPlace.with { _ throws in
            var view = ViewSettings()
            #expect(view.toDictionary() == nil)
            succeeds(view.fromDictionary(["volume": 9, "window": ["width": 3, "title": "t"], "note": nil]))
            #expect(view == ViewSettings(volume: 9, window: .init(width: 3, title: "t")))
            let dictionary = try view.tryToDictionary()
            #expect(dictionary["volume"] as? Int == 9 && dictionary["opened"] as? Date == view.opened)
            var other = ViewSettings()
            succeeds(other.fromDictionary(dictionary))
            #expect(other == view)
            let bytes = try Data(contentsOf: view.settingsURL())
            for (wrong, message) in [
                (["volume": "loud"], "volume: expected Int, found a string"), (["size": 1], "size: is not a field"),
                (["window": ["width": 1.5]], "window.width: expected Int, found a real number"),
                (["window": ["wide": 1]], "window.wide: is not a field"),
                (["note": Date(timeIntervalSinceReferenceDate: .nan)], "note: a date must be finite"),
            ] as [([String: Any], String)] {
                let error = failure { try view.tryFromDictionary(wrong) }
                #expect(error.hasSuffix(message), "\(error)")
            }
            #expect(try Data(contentsOf: view.settingsURL()) == bytes && view == other)
        }
    }

    @Test func whatIsThereIsNotWrittenAgain() throws {
        try SettingsPlace.with { _ throws in
            var view = ViewSettings()
            view.opened = Date(timeIntervalSinceReferenceDate: 0.75)
            view.load()
            func number() throws -> Int? {
                let path = view.settingsURL().path
                return try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            }
            let before = try number()
            succeeds(view.save())
            succeeds(view.save())
            #expect(try number() == before)
        }
    }
}
