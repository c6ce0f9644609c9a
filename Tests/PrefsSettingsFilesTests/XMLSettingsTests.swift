import Foundation
import PersistentPreferences
import PrefsDocuments
import PrefsSettingsFiles
import Testing
import TestSupport

/// Settings in the format of `PrefsDocuments`, whose text a save keeps.
@Suite(.inSettingsPlace) struct XMLSettingsTests {
    private struct Colors: HeardSettings {
        var accent = "blue"
        var isDark = false

        static var settingsFormat: FileFormat { .xml }
        static var settingsURL: URL { SettingsPlace.file("Colors.plist") }
    }

    private var text: String { get throws { try String(contentsOf: Colors.settingsURL, encoding: .utf8) } }

    @Test func aSaveKeepsTheText() throws {
        var colors = Colors()
        succeeds(colors.load())
        let commented = try text.replacing("<dict>", with: "<dict> <!-- mine -->")
        try Data(commented.utf8).write(to: Colors.settingsURL)
        succeeds(colors.load())
        colors.isDark = true
        succeeds(colors.save())
        #expect(try text == commented.replacing("<false/>", with: "<true/>"))
    }

    @Test func aTypingErrorIsNeitherMovedNorReplaced() throws {
        var colors = Colors()
        succeeds(colors.load())
        let broken = try text.replacing("</string>", with: "</strin>")
        try Data(broken.utf8).write(to: Colors.settingsURL)
        succeeds(!colors.save())
        #expect(try text == broken)
        #expect(try quarantined() == [])
    }
}
