import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

/// Files that a settings type does not expect: nothing is lost, and the error names the place.
@Suite(.inSettingsPlace) struct SettingsTroubleTests {
    private func xml(_ body: String) -> Data {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0">
            <dict>
            \(body)
            </dict>
            </plist>
            """
        return Data(text.utf8)
    }

    private let good = """
        <key>volume</key><integer>7</integer>
        <key>window</key><dict><key>width</key><integer>640</integer></dict>
        <key>opened</key><date>2001-01-01T00:00:00Z</date>
        """

    @Test(arguments: [
        ("<integer>7</integer>", "<integer>7</integr>", "line 4, column 28: expected </integer>, found </integr>"),
        (
            "<integer>7</integer>", "<integer>seven</integer>",
            "line 4, column 18: <integer> does not hold a whole number"
        ),
        ("<integer>7</integer>", "<string>7</string>", "volume: expected Int, found a string"),
        ("<integer>640</integer>", "<real>640.5</real>", "window.width: expected Int, found a real number"),
    ])
    func oneTypoIsNamedAndChangesNothing(_ right: String, _ wrong: String, _ message: String) throws {
        var settings = ViewSettings(volume: 3)
        try write(xml(good.replacingOccurrences(of: right, with: wrong)), for: settings)
        let bytes = try Data(contentsOf: type(of: settings).settingsURL)
        let error = failure { try settings.tryLoad() }
        #expect(error.contains(message), "\(error)")
        #expect(settings == ViewSettings(volume: 3))
        // This package has not written the file, so a malformed file stays unchanged.
        if error.contains("line 4") {
            succeeds(!settings.save())
            #expect(try Data(contentsOf: type(of: settings).settingsURL) == bytes)
            return
        }
        // A save would lose what the type cannot read.
        #expect(told { settings.save() }.hasSuffix("\(message); reset() or delete() moves the file aside"))
        #expect(try Data(contentsOf: type(of: settings).settingsURL) == bytes)
        // An explicit word keeps the mistyped file beside the new one.
        try writePropertyList([String: Any](), to: type(of: settings).settingsURL.appendingPathExtension("init"))
        succeeds(settings.reset())
        #expect(settings == ViewSettings(volume: 3))
        #expect(try quarantined() == [bytes])
    }

    @Test func aTypeWithoutFieldsReadsEveryFile() throws {
        struct NoSettings: HeardSettings {
            private enum CodingKeys: CodingKey {}
            init() {}
            init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
            func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
            static var settingsURL: URL { SettingsPlace.file("NoSettings.plist") }
        }
        var settings = NoSettings()
        try write(["volume": 7], for: settings)
        succeeds(settings.load() && settings.save())
        #expect(try propertyList(at: type(of: settings).settingsURL) as NSDictionary == ["volume": 7])
    }

    /// The text that a person has typed is not lost.
    @Test func aMistypedFieldIsAnUnknownOne() throws {
        var settings = ViewSettings(volume: 3)
        try write(xml(good.replacingOccurrences(of: "<key>volume</key>", with: "<key>volme</key>")), for: settings)
        succeeds(settings.load())
        #expect(settings.volume == 3 && settings.window.width == 640)
        settings.window.width = 700
        succeeds(settings.save())
        let bytes = try Data(contentsOf: type(of: settings).settingsURL)
        let list = try PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any]
        #expect(list?["volme"] as? Int == 7 && list?["volume"] as? Int == 3)
    }

    @Test func aFieldThatTheFileLacksTakesItsInitialValue() throws {
        var settings = ViewSettings(volume: 3)
        try write(xml("<key>window</key><dict/><key>future</key><true/>"), for: settings)
        succeeds(settings.load())
        #expect(settings == ViewSettings(volume: 3, window: .init(width: 800, title: nil)))
        var quiet = ViewSettings(volume: 0)
        succeeds(quiet.load())
        #expect(quiet.volume == 0, "those of the value that is loaded into")
    }

    @Test func aFieldThatTheFileLacksTakesTheValueOfTheFirstLoad() throws {
        var settings = ViewSettings(volume: 4)
        succeeds(settings.load())
        try write(xml("<key>note</key><string>x</string>"), for: settings)
        // Without a resource of the bundle, too.
        for load in [{ $0.load() }, { $0.loadUsingSettingsFile() }] as [(inout ViewSettings) -> Bool] {
            settings.volume = 6
            succeeds(load(&settings))
            #expect(settings.volume == 4 && settings.note == "x")
        }
    }

    /// A version of the program that has more fields than the one that saved first.
    @Test func aFieldThatIsNewerThanTheInitialValuesIsFound() throws {
        var old = ViewSettings()
        try write(xml("<key>window</key><dict><key>width</key><integer>1</integer></dict>"), for: old)
        try FileManager.default.copyItem(
            at: type(of: old).settingsURL, to: type(of: old).settingsURL.appendingPathExtension("init"))
        succeeds(old.load())
        #expect(old == ViewSettings(volume: 5, window: .init(width: 1, title: nil)))
        succeeds(old.reset())
        #expect(old.volume == 5 && old.window.width == 1)
    }

    /// An explicit word on a file of another type removes the file, and loses nothing.
    @Test func aDeletedFileOfAnotherTypeIsInQuarantine() throws {
        let settings = ViewSettings()
        try write(xml("<key>volume</key><string>loud</string><key>other</key><true/>"), for: settings)
        let bytes = try Data(contentsOf: type(of: settings).settingsURL)
        succeeds(settings.delete())
        #expect(try quarantined() == [bytes])
        try write(xml(good), for: settings)
        succeeds(settings.delete())
        #expect(try quarantined() == [bytes], "a file of the type itself is removed")
        #expect(!FileManager.default.fileExists(atPath: type(of: settings).settingsURL.path))
    }

    /// Nobody knows whether it had values of this type.
    @Test func aDeletedMalformedFileIsInQuarantine() throws {
        let settings = ViewSettings()
        let bytes = xml(good.replacingOccurrences(of: "</date>", with: "</dat>"))
        try write(bytes, for: settings)
        succeeds(settings.delete())
        #expect(try quarantined() == [bytes])
        #expect(!FileManager.default.fileExists(atPath: type(of: settings).settingsURL.path))
        #expect(told { settings.delete() }.hasSuffix("ViewSettings.plist: the file does not exist"))
    }

    @Test func whatCannotBeWrittenIsSaid() throws {
        try Data().write(to: SettingsPlace.folder)
        let error = failure { try ViewSettings().trySave() }
        #expect(error.contains("Not a directory"), "\(error)")
        struct Unstorable: SettingsFile {
            var date = Date(timeIntervalSinceReferenceDate: .infinity)
            static var settingsURL: URL { SettingsPlace.file("Unstorable.plist") }
        }
        #expect(failure { try Unstorable().trySave() }.hasSuffix("date: a date must be finite"))
    }
}
