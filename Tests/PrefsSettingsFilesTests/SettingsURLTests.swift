import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

private struct PropertySettings: HeardSettings, Equatable {
    var size = 1

    static var settingsURL: URL { SettingsPlace.file("property.plist") }
}

private struct StaticMethodSettings: HeardSettings, Equatable {
    var size = 1

    static func settingsURL() -> URL { SettingsPlace.file("static method.plist") }
}

/// The spelling of `SettingsManageable`.
private struct MethodSettings: HeardSettings, Equatable {
    var size = 1

    func settingsURL() -> URL { SettingsPlace.file("method.plist") }
}

private struct InstancePropertySettings: HeardSettings, Equatable {
    var size = 1

    var settingsURL: URL { SettingsPlace.file("instance property.plist") }
}

private class MethodClass: HeardSettings {
    var size = 1

    func settingsURL() -> URL { SettingsPlace.file("class.plist") }

    func copyValues(from loaded: MethodClass) { size = loaded.size }
}

private final class MethodSubclass: MethodClass {
    override func settingsURL() -> URL { SettingsPlace.file("subclass.plist") }
}

/// The compiler accepts each spelling of `settingsURL` in a settings type. None of them is ignored.
@Suite(.inSettingsPlace) struct SettingsURLTests {
    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: SettingsPlace.folder.path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Saves, loads, and checks that there is no other file.
    private func check<Settings: HeardSettings>(
        _ settings: Settings, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(settings.settingsURL() == SettingsPlace.file(name), sourceLocation: sourceLocation)
        succeeds(settings.save(), sourceLocation: sourceLocation)
        #expect(try files() == [name], sourceLocation: sourceLocation)
        try writePropertyList(["size": 7], to: SettingsPlace.file(name))
        var loaded = settings
        succeeds(loaded.load(), sourceLocation: sourceLocation)
        #expect(loaded.toDictionary()?["size"] as? Int == 7, sourceLocation: sourceLocation)
        succeeds(settings.delete(), sourceLocation: sourceLocation)
        #expect(try files() == [], sourceLocation: sourceLocation)
    }

    @Test func eachSpellingChoosesTheFile() throws {
        try check(PropertySettings(), "property.plist")
        try check(StaticMethodSettings(), "static method.plist")
        try check(MethodSettings(), "method.plist")
        try check(InstancePropertySettings(), "instance property.plist")
        try check(MethodClass(), "class.plist")
    }

    @Test func aSubclassOverridesTheMethod() throws {
        let object = try JSONDecoder().decode(MethodSubclass.self, from: Data(#"{"size": 3}"#.utf8))
        let settings: MethodClass = object
        succeeds(settings.save())
        #expect(try files() == ["subclass.plist"])
    }

    /// The property of a type is not ambiguous beside the methods of the library.
    @Test func thePropertyIsReadWithoutItsType() {
        let url = PropertySettings.settingsURL
        #expect(url.lastPathComponent == "property.plist")
        #expect(PropertySettings.settingsURL() == url && PropertySettings().settingsURL() == url)
    }
}
