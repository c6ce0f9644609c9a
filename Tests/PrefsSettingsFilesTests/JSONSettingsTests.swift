import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsSettingsFiles
import Testing
import TestSupport

/// Settings files in JSON.
@Suite(.inSettingsPlace) struct JSONSettingsTests {
    struct Colors: SettingsFile, Equatable {
        var accent = "blue"
        var alpha = 0.5
        var changed: Date? = Date(timeIntervalSinceReferenceDate: 0.25)
        var icon = Data([1, 2])

        static var settingsFormat: FileFormat { .json }
        static var initialSettings: Colors { Colors() }

        static var settingsURL: URL { SettingsPlace.file("Colors.json") }
    }

    /// Settings in the default location.
    struct Unplaced: SettingsFile { static var settingsFormat: FileFormat { .json } }

    /// Not an object at the top.
    enum Mode: String, SettingsFile {
        case plain, rich

        static var settingsFormat: FileFormat { .json }

        static var settingsURL: URL { SettingsPlace.file("Mode.json") }
    }

    private func text() throws -> String { try String(contentsOf: Colors.settingsURL, encoding: .utf8) }

    private func edit(_ text: String) throws { try Data(text.utf8).write(to: Colors.settingsURL) }

    /// `$null` is nil in a property list, and a text in JSON. The file decides, and not the format of the type.
    @Test func theDictionaryIsThatOfTheFormatOfTheFile() throws {
        for (isJSON, text) in [(false, nil), (true, "$null")] as [(Bool, String?)] {
            let bytes =
                isJSON
                ? Data(#"{"accent": "$null"}"#.utf8)
                : try PropertyListSerialization.data(
                    fromPropertyList: ["accent": "$null"], format: .binary, options: 0)
            try FileManager.default.createDirectory(at: SettingsPlace.folder, withIntermediateDirectories: true)
            try bytes.write(to: Colors.settingsURL)
            let accent = try #require(Colors().toDictionary()?["accent"])
            #expect(accent as? String == text, "JSON: \(isJSON)")
        }
    }

    @Test func aSettingsFileIsSavedEditedAndLoaded() throws {
        var colors = Colors()
        succeeds(colors.load())
        #expect(
            try text() == """
                {
                  "accent": "blue",
                  "alpha": 0.5,
                  "changed": "2001-01-01T00:00:00.25Z",
                  "icon": "AQI="
                }

                """)
        try edit("{ \"alpha\": 1, \"accent\": \"red\", \"later\": [1] }\r\n")
        succeeds(colors.load())
        #expect(colors == Colors(accent: "red", alpha: 1, changed: nil))
        colors.icon = Data()
        succeeds(colors.save())
        #expect(try text().contains("\"accent\": \"red\", \"later\": [1]"), "unknown fields stay")
        succeeds(colors.reset())
        #expect(colors == Colors())
        // What a person has left malformed, only an explicit word moves aside.
        let mistake = "{\"accent\": red}"
        try edit(mistake)
        colors.alpha = 1
        succeeds(!colors.save())
        #expect(try text() == mistake && quarantined() == [])
        succeeds(colors.reset())
        #expect(try quarantined() == [Data(mistake.utf8)] && text().contains("\"alpha\": 0.5"))
    }

    @Test func aTypoIsReportedWithItsPlace() throws {
        var colors = Colors()
        succeeds(colors.load())
        colors.accent = "green"
        succeeds(colors.save())
        try edit("{\n  \"accent\": \"red\"\n  \"alpha\": 1\n}\n")
        #expect(failure { try colors.tryLoad() }.contains("line 3, column 3: expected , or }"))
        #expect(colors.accent == "green")
    }

    @Test func aRootThatIsNotAnObjectIsStored() throws {
        var mode = Mode.rich
        succeeds(mode.save())
        #expect(try String(contentsOf: type(of: mode).settingsURL, encoding: .utf8) == "\"rich\"\n")
        mode = .plain
        succeeds(mode.load())
        #expect(mode == .rich)
    }

    /// A type that changes to JSON later keeps its existing file. A property list has no dates as text.
    @Test func anExistingPropertyListKeepsItsFormatAndItsForms() throws {
        let url = Colors.settingsURL
        try write(PropertyListEncoder().encode(Colors(accent: "old")), for: Colors())
        var colors = Colors()
        succeeds(colors.load())
        #expect(colors.accent == "old")
        colors.accent = "new"
        colors.changed = Date(timeIntervalSinceReferenceDate: 5)
        succeeds(colors.save())
        #expect(try Data(contentsOf: url).starts(with: "bplist".utf8))
        #expect(try PropertyListDecoder().decode(Colors.self, from: Data(contentsOf: url)) == colors)
    }

    /// The forms and the nulls of the other fields stay.
    @Test func aFileThatLacksAFieldKeepsItsForms() throws {
        var colors = Colors()
        succeeds(colors.load())
        try edit(#"{"changed": "2001-01-01", "icon": [1, 2], "mine": null}"#)
        succeeds(colors.load())
        colors.alpha = 0.25
        succeeds(colors.save())
        let saved = try text()
        #expect(saved == #"{"accent": "blue", "alpha": 0.25, "changed": "2001-01-01", "icon": [1, 2], "mine": null}"#)
    }

    @Test func theDefaultNameSaysJSON() {
        #expect(Unplaced.settingsURL.pathExtension == "json")
    }

    /// The forms in which people and JSONEncoder write dates and data. A save of equal values does not change the file.
    @Test func whatPeopleWriteIsReadAndKept() throws {
        let written = #"{"accent": "red", "alpha": 1, "changed": "2001-01-01T00:00:05Z", "icon": "AQID"}"#
        var colors = Colors()
        succeeds(colors.load())
        try edit(written)
        succeeds(colors.load())
        #expect(colors.changed == Date(timeIntervalSinceReferenceDate: 5) && colors.icon == Data([1, 2, 3]))
        succeeds(colors.save())
        #expect(try text() == written)
        colors.accent = "green"
        succeeds(colors.save())
        var again = Colors()
        succeeds(again.load())
        #expect(again == colors && again.alpha == 1)
    }
}
