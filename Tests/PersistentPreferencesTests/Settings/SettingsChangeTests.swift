import Foundation
import PersistentPreferences
import TestSupport
import Testing

/// Reads what a former version called otherwise.
private struct RenamedSettings: SettingsFile, Equatable {
    var tint = "red"
    var names: [String] = []

    private enum CodingKeys: String, CodingKey { case tint, oldTint, names }

    init(tint: String = "red") { self.tint = tint }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let tint = try? container.decode(String.self, forKey: .tint) {
            self.tint = tint
        } else {
            tint = try container.decode(String.self, forKey: .oldTint)
        }
        names = try container.decode([String].self, forKey: .names)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tint, forKey: .tint)
        try container.encode(names, forKey: .names)
    }

    func settingsURL() -> URL { SettingsPlace.file("RenamedSettings.plist") }
}

/// Has texts that could be taken for nil.
private struct NilSettings: SettingsFile, Equatable {
    var text = ""
    var maybe: String?
    var list: [String?] = []

    func settingsURL() -> URL { SettingsPlace.file("NilSettings.plist") }
}

/// Forgets a property when it takes over the others, and empties a list before it fills it.
private final class ForgetfulSettings: SettingsFile {
    var items = ["a"]
    var size = 1
    var color = 1

    func settingsURL() -> URL { SettingsPlace.file("ForgetfulSettings.plist") }

    func take(_ loaded: ForgetfulSettings) {
        items.removeAll()
        items += loaded.items
        size = loaded.size
    }
}

/// Saves another value in the middle of its own first load.
private struct HastySettings: SettingsFile, Equatable {
    var number = 1

    init(number: Int = 1) { self.number = number }

    func encode(to encoder: any Encoder) throws {
        if number == 1 { HastySettings(number: 42).save() }
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
    }

    func settingsURL() -> URL { SettingsPlace.file("HastySettings.plist") }
}

/// One of many.
private struct NumberedSettings: SettingsFile {
    var number: Int

    func settingsURL() -> URL { SettingsPlace.file("Numbered\(number).plist") }
}

/// Versions, other writers, and classes that do not do their part.
@Suite struct SettingsChangeTests {
    private func write(_ values: [String: Any], for settings: some SettingsFile, suffix: String = "") throws {
        let url = settings.settingsURL()
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try writePropertyList(values, to: URL(filePath: url.path + suffix))
    }

    private func setAside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: SettingsPlace.folder.path).filter {
            $0.contains(".corrupt-")
        }
    }

    @Test func aFieldThatIsLookedForIsFoundBeforeItsInitialValue() throws {
        try SettingsPlace.with { _ throws in
            var settings = RenamedSettings()
            try write(["oldTint": "green"], for: settings)
            succeeds(settings.load())
            #expect(settings.tint == "green" && settings.names == [])
        }
    }

    @Test func aNewNameLikeAnOldOneIsNoTypo() throws {
        struct Plural: SettingsFile {
            var colors = ["red"]
            func settingsURL() -> URL { SettingsPlace.file("Plural.plist") }
        }
        try SettingsPlace.with { _ throws in
            var settings = Plural()
            try write(["color": "red", "min": 1], for: settings)
            succeeds(settings.load())
            #expect(settings.colors == ["red"])
        }
    }

    @Test func whatSomebodyElseSavesMeanwhileIsLoaded() throws {
        try SettingsPlace.with { _ throws in
            var settings = HastySettings()
            succeeds(settings.load())
            #expect(settings.number == 42)
            var other = HastySettings(number: 2)
            succeeds(other.load())
            #expect(other.number == 42)
        }
    }

    @Test func whatCameBackAfterDamageIsNotLostUnseen() throws {
        try SettingsPlace.with { _ throws in
            ViewSettings(volume: 99).save()
            var settings = ViewSettings()
            try Data("junk".utf8).write(to: settings.settingsURL())
            succeeds(!settings.load())
            #expect(settings.volume == 5)
            // So many files that none of before is held open.
            for number in 0..<40 { succeeds(NumberedSettings(number: number).save()) }
            settings.volume = 6
            succeeds(settings.save())
            let kept = try setAside().map { try? propertyList(at: SettingsPlace.file($0))["volume"] as? Int }
            #expect(kept.count == 2 && kept.contains(99))
            succeeds(settings.save())
            #expect(try setAside().count == 2)
            succeeds(settings.load())
            #expect(settings.volume == 6)
        }
    }

    @Test func damageIsNoHindranceToWhoeverReplacesTheFile() throws {
        try SettingsPlace.with { _ throws in
            var settings = ViewSettings()
            for replace in [{ $0.save() }, { $0.reset() }, { $0.delete() }] as [(inout ViewSettings) -> Bool] {
                succeeds(settings.load())
                try Data("junk".utf8).write(to: settings.settingsURL())
                succeeds(replace(&settings))
            }
            #expect(!FileManager.default.fileExists(atPath: settings.settingsURL().path))
        }
    }

    @Test func aForgottenPropertyIsAnError() throws {
        try SettingsPlace.with { _ throws in
            let settings = ForgetfulSettings()
            succeeds(settings.load())
            #expect(settings.items == ["a"])
            succeeds(settings.fromDictionary(["size": 2, "items": ["b"]]))
            #expect(settings.items == ["b"] && settings.size == 2)
            #expect(
                failure { try settings.tryFromDictionary(["color": 3]) }
                    .hasSuffix("color: was not taken over by take(_:)"))
        }
    }

    @Test func aDictionaryComesBackAsItWas() throws {
        try SettingsPlace.with { _ throws in
            var settings = NilSettings(text: "$null", maybe: nil, list: ["$null", nil, "$$null"])
            succeeds(settings.save())
            let stored = try propertyList(at: settings.settingsURL()) as NSDictionary
            let dictionary = try settings.tryToDictionary()
            succeeds(settings.delete())
            var other = NilSettings()
            succeeds(other.fromDictionary(dictionary))
            #expect(other == settings)
            #expect(try propertyList(at: settings.settingsURL()) as NSDictionary == stored)
            settings.maybe = "x"
            succeeds(settings.fromDictionary(["maybe": nil]))
            #expect(settings.maybe == nil)
        }
    }

    @Test func initialValuesThatCannotBeUsedAreInNobodysWay() throws {
        try SettingsPlace.with { _ throws in
            var settings = ViewSettings()
            try write(["volume": 8], for: settings)
            try write(["window": "large"], for: settings, suffix: ".init")
            succeeds(settings.load())
            #expect(settings.volume == 8)
            #expect(
                failure { try settings.tryReset() }.contains(
                    ".plist.init: window: a text is no Dictionary<String, Any>"))
            succeeds(settings.delete())
            succeeds(settings.load())
            #expect(settings.volume == 8)
        }
    }
}
