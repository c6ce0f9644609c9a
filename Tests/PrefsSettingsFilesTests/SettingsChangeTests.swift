@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing
import PrefsSettingsFiles

private struct RenamedSettings: HeardSettings, Equatable {
    var tint = "red"
    var names: [String] = []

    static var settingsURL: URL { SettingsPlace.file("RenamedSettings.plist") }
}

/// Reads a field under its former name.
extension RenamedSettings {
    private enum FormerKeys: CodingKey { case oldTint }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let tint = try? container.decode(String.self, forKey: .tint) {
            self.tint = tint
        } else {
            tint = try decoder.container(keyedBy: FormerKeys.self).decode(String.self, forKey: .oldTint)
        }
        names = try container.decode([String].self, forKey: .names)
    }
}

/// Has texts that could be mistaken for nil.
private struct NilSettings: HeardSettings, Equatable {
    var text = ""
    var maybe: String?
    var list: [String?] = []

    static var settingsURL: URL { SettingsPlace.file("NilSettings.plist") }
}

/// Versions and other writers.
@Suite(.inSettingsPlace) struct SettingsChangeTests {
    @Test func aFieldThatIsLookedForIsFoundBeforeItsInitialValue() throws {
        var settings = RenamedSettings()
        try write(["oldTint": "green"], for: settings)
        succeeds(settings.load())
        #expect(settings.tint == "green" && settings.names == [])
    }

    /// A load of a damaged file takes over the newest known values and reports it, so that a save does not lose them.
    @Test func aSaveKeepsTheKnownStateOfADamagedFile() throws {
        ViewSettings(volume: 99).save()
        var settings = ViewSettings()
        try Data("junk".utf8).write(to: settings.settingsURL())
        let before = try FolderState(in: SettingsPlace.folder.path)
        succeeds(!settings.load())
        #expect(settings.volume == 99)
        #expect(try FolderState(in: SettingsPlace.folder.path) == before)
        settings.note = "new"
        succeeds(settings.save())
        #expect(try quarantined() == [Data("junk".utf8)])
        succeeds(settings.save())
        #expect(try quarantined().count == 1)
        var other = ViewSettings()
        succeeds(other.load())
        #expect(other.volume == 99 && other.note == "new")
    }

    /// A file that this package has not written is replaced by explicit words only.
    @Test func aFileThatIsNotOursStays() throws {
        var settings = ViewSettings(volume: 3)
        let url = settings.settingsURL()
        for text in ["{\"volume\": 5}", "junk", "{ volume = 5; }"] {
            try write(Data(text.utf8), for: settings)
            let before = try FolderState(in: SettingsPlace.folder.path)
            for access in [{ $0.load() }, { $0.save() }] as [(inout ViewSettings) -> Bool] {
                succeeds(!access(&settings))
                #expect(try FolderState(in: SettingsPlace.folder.path).hasSameFiles(as: before), "\(text)")
            }
            #expect(settings == ViewSettings(volume: 3))
            #expect(failure { try settings.trySave() }.hasSuffix("because it may belong to another program"))
        }
        let reset: (inout ViewSettings) -> Bool = { $0.reset() }
        try writePropertyList(["volume": 4], to: url.appendingPathExtension("init"))
        let delete: (inout ViewSettings) -> Bool = { $0.delete() }
        for (count, access) in [reset, delete].enumerated() {
            let junk = Data("junk \(count)".utf8)
            try junk.write(to: url)
            succeeds(access(&settings))
            #expect(try quarantined().contains(junk))
            try? FileManager.default.removeItem(at: SettingsPlace.file(".ViewSettings.plist.lastgood"))
            try junk.write(to: url)
            succeeds(!settings.save())
            #expect(try Data(contentsOf: url) == junk, "the permission ends with the word")
        }
        #expect(settings.volume == 4)
    }

    @Test func aDamagedFileCanBeReplaced() throws {
        var settings = ViewSettings()
        for replace in [{ $0.save() }, { $0.reset() }, { $0.delete() }] as [(inout ViewSettings) -> Bool] {
            succeeds(settings.load())
            try Data("junk".utf8).write(to: settings.settingsURL())
            succeeds(replace(&settings))
        }
        #expect(!FileManager.default.fileExists(atPath: settings.settingsURL().path))
    }

    @Test func textsLikeNilAreKept() throws {
        var settings = NilSettings(text: "$null", maybe: nil, list: ["$null", nil, "$$null"])
        succeeds(settings.save())
        var other = NilSettings()
        succeeds(other.load())
        #expect(other == settings)
        #expect((settings.toDictionary()?["list"] as? [Any])?.count == 3)
        settings.maybe = "x"
        succeeds(settings.save() && other.load())
        other.maybe = nil
        succeeds(other.save() && settings.load())
        #expect(settings.maybe == nil)
    }

    @Test func unusableInitialValuesPreventNothing() throws {
        var settings = ViewSettings()
        try write(["volume": 8], for: settings)
        try write(["window": "large"], for: settings, suffix: ".init")
        succeeds(settings.load())
        #expect(settings.volume == 8)
        #expect(
            told { settings.reset() }.contains(".plist.init: window: expected Dictionary<String, Any>, found a string"))
        succeeds(settings.delete())
        succeeds(settings.load())
        #expect(settings.volume == 8)
    }
}
