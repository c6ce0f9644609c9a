import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

private enum Place { @TaskLocal static var url = URL(filePath: "/") }

private enum Old {
    struct Look: SettingsFile {
        var color1: String? = nil
        var name = "n"
        func settingsURL() -> URL { Place.url }
    }
}

private enum New {
    struct Look: SettingsFile {
        var color1: String? = nil
        var color2: String? = nil
        var name = "n"
        func settingsURL() -> URL { Place.url }
    }
}

/// An optional field that is nil is not in the file. An unknown field with a similar name is no typing error for it.
@Suite struct OptionalFieldTests {
    @Test func anOlderVersionLoadsAFileWithASimilarField() throws {
        let folder = try TemporaryFolder()
        try Place.$url.withValue(folder.file()) {
            var newer = New.Look()
            (newer.color2, newer.name) = ("red", "mine")
            try newer.tryUpdate()
            var older = Old.Look()
            try older.tryLoad()
            #expect(older.name == "mine")
            older.name = "other"
            try older.tryUpdate()
            try newer.tryLoad()
            #expect(newer.color2 == "red" && newer.name == "other")
        }
    }
}
