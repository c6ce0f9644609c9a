import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

/// Implements its initial values.
private struct StatedSettings: HeardSettings, Equatable {
    var volume = 5
    var name = "initial"

    static let initialSettings = StatedSettings()

    static var settingsURL: URL { SettingsPlace.file("StatedSettings.plist") }
}

private class StatedClass: SettingsFile {
    var size = 1

    required init() {}

    class var initialSettings: Self { Self() }

    class var settingsURL: URL { SettingsPlace.file("\(self).plist") }

    func copyValues(from loaded: StatedClass) { size = loaded.size }
}

private final class StatedSubclass: StatedClass {
    required init() {
        super.init()
        size = 2
    }

    required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
}

/// Initial values come from the bundle, the type, or the load that created the file. They never come from a save.
@Suite(.inSettingsPlace) struct SettingsInitialValuesTests {
    @Test func aResetAfterAFirstSaveRestoresTheValuesOfTheType() throws {
        var settings = StatedSettings(volume: 9, name: "edited")
        succeeds(settings.save())
        succeeds(settings.reset())
        #expect(settings == StatedSettings())
        var other = StatedSettings(volume: 1)
        succeeds(other.load())
        #expect(other == StatedSettings())
        succeeds(other.delete())
        other.volume = 7
        succeeds(other.load())
        #expect(other.volume == 7, "a load creates the file from the value in memory")
        let names = try FileManager.default.contentsOfDirectory(atPath: SettingsPlace.folder.path)
        #expect(!names.contains("StatedSettings.plist.init"), "they are in the code")
    }

    @Test func ofASubclassItsOwnValuesAreRestored() throws {
        let object: StatedClass = StatedSubclass()
        object.size = 9
        succeeds(object.save())
        succeeds(object.reset())
        #expect(object.size == 2)
        let base = StatedClass()
        base.size = 9
        succeeds(base.save() && base.reset())
        #expect(base.size == 1)
    }

    @Test func theBundleComesBeforeTheType() throws {
        struct PlayerSettings: SettingsFile, Equatable {
            static var settingsBundle: Bundle { SettingsPlace.bundle }
            var name = "x", level = 0, weapons: [String] = [], speed = 0.0
            static var initialSettings: PlayerSettings { PlayerSettings(name: "type") }
            static var settingsURL: URL { SettingsPlace.file("PlayerSettings.plist") }
        }
        var settings = PlayerSettings(name: "edited")
        succeeds(settings.save())
        SettingsPlace.$bundle.withValue(.module) { succeeds(settings.reset()) }
        #expect(settings.name == "Player One")
        succeeds(settings.reset())
        #expect(settings.name == "type")
    }

    /// Unknown initial values are never replaced by edited ones.
    @Test func withoutThemAResetFailsAndChangesNothing() throws {
        var settings = ViewSettings(volume: 9)
        succeeds(settings.save())
        let bytes = try Data(contentsOf: type(of: settings).settingsURL)
        for isSavedAgain in [false, true] {
            // A load that creates the file after a save does not treat the edited values as initial ones, either.
            if isSavedAgain { succeeds(settings.delete() && settings.load()) }
            #expect(told { settings.reset() }.hasSuffix("ViewSettings.plist.init: the file does not exist"))
            #expect(settings == ViewSettings(volume: 9))
            #expect(try Data(contentsOf: type(of: settings).settingsURL) == bytes)
        }
    }

    @Test func aResetRemovesUnknownFields() throws {
        var settings = StatedSettings()
        succeeds(settings.load())
        try writePropertyList(["volume": 9, "name": "x", "future": 1], to: type(of: settings).settingsURL)
        succeeds(settings.load() && settings.reset())
        #expect(
            try propertyList(at: type(of: settings).settingsURL) as NSDictionary == ["volume": 5, "name": "initial"])
    }

    @Test func aCreationThatFailsKeepsNoInitialValues() throws {
        var settings = ViewSettings(volume: 9)
        let lock = SettingsPlace.file(".ViewSettings.plist.lock")
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: true)
        #expect(told { settings.load() }.contains("ViewSettings.plist.lock: is a folder"))
        let initial = SettingsPlace.file("ViewSettings.plist.init").path
        #expect(!FileManager.default.fileExists(atPath: initial))
        try FileManager.default.removeItem(at: lock)
        settings.volume = 5
        succeeds(settings.load())
        settings.volume = 6
        succeeds(settings.reset())
        #expect(settings.volume == 5)
    }

    /// In `loadUsingSettingsFile`, the bundle comes first.
    @Test func aFieldThatTheFileLacksComesFromTheBundle() throws {
        try SettingsPlace.$bundle.withValue(.module) {
            var settings = PlayerSettings(name: "memory", speed: 9)
            try write(["level": 7], for: settings)
            succeeds(settings.load())
            #expect(settings == PlayerSettings(name: "memory", level: 7, speed: 9))
            succeeds(settings.loadUsingSettingsFile())
            #expect(settings.name == "Player One" && settings.level == 7)
        }
    }

    /// The folder of the settings is that of the bundle.
    @Test func theFileItselfHasNoInitialValues() throws {
        var settings = PlayerSettings(level: 1)
        succeeds(settings.load())
        settings.level = 2
        succeeds(settings.save())
        let bundle = try #require(Bundle(url: SettingsPlace.folder))
        #expect(bundle.url(forResource: "PlayerSettings", withExtension: "plist") != nil)
        SettingsPlace.$bundle.withValue(bundle) { succeeds(settings.reset()) }
        #expect(settings.level == 1)
    }

    @Test func initialValuesThatCannotBeUsedPreventNothing() throws {
        var settings = ViewSettings(window: .init(width: 640))
        try write(["volume": 7], for: settings)
        try write(["volume": "x"], for: settings, suffix: ".init")
        succeeds(settings.load())
        #expect(settings.volume == 7 && settings.window.width == 640)
    }

    @Test func anErrorOfTheTypeIsReported() throws {
        struct Failing: HeardSettings {
            struct Reason: Error {}
            var number = 1
            static var initialSettings: Failing { get throws { throw Reason() } }
            static var settingsURL: URL { SettingsPlace.file("Failing.plist") }
        }
        var settings = Failing(number: 2)
        succeeds(settings.save())
        #expect(told { settings.reset() }.contains("Reason"))
        #expect(settings.number == 2)
    }
}
