import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport
import WriteOperations

/// Forgets a property when it copies the others, and empties a list before it fills it.
private final class ForgetfulSettings: HeardSettings {
    var items = ["a"]
    var size = 1
    var color = 1

    static var initialSettings: ForgetfulSettings { ForgetfulSettings() }

    static var settingsURL: URL { SettingsPlace.file("ForgetfulSettings.plist") }

    func copyValues(from loaded: ForgetfulSettings) {
        items.removeAll()
        items += loaded.items
        size = loaded.size
    }
}

/// Settings of an older version of a program.
private struct OldSettings: HeardSettings, Equatable {
    struct Tab: Codable, Equatable { var title: String }

    var volume = 5
    var tab = Tab(title: "a")
    var tabs: [Tab] = []

    static var settingsURL: URL { SettingsPlace.file("OldSettings.plist") }
}

/// Guarantees to a settings type beyond its values.
@Suite(.inSettingsPlace) struct SettingsPromisesTests {
    @Test func everyFailureIsReportedOnce() throws {
        var settings = PlayerSettings()
        succeeds(!settings.loadUsingSettingsFile())
        // The load has made no file.
        succeeds(!settings.delete())
        succeeds(!settings.reset())
        try write(["name": 1], for: settings)
        succeeds(!settings.load())
        succeeds(!settings.loadUsingSettingsFile())
        succeeds(!settings.save())
        let mistyped = "PlayerSettings.plist: name: expected String, found an integer"
        #expect(
            SettingsPlace.errors.withLock { $0 }.map {
                $0.replacing(/^.*\/|; the stored state is unchanged$/, with: "")
            } == [
                "PlayerSettings.plist: the file does not exist", "PlayerSettings.plist: the file does not exist",
                "PlayerSettings.plist.init: the file does not exist", mistyped, mistyped,
                "\(mistyped); reset() or delete() moves the file aside",
            ])
    }

    /// Checks every method that takes over values, also in code that knows only the protocol.
    @Test(arguments: [WriteOperation.settingsLoad, .settingsReset, .settingsLoadFromBundle])
    func everyWayOfTakingOverIsChecked(_ operation: WriteOperation) throws {
        func take(_ settings: inout any SettingsFile) -> Bool {
            switch operation {
            case .settingsLoad: settings.load()
            case .settingsReset: settings.reset()
            default: settings.loadUsingSettingsFile()
            }
        }
        let object = ForgetfulSettings()
        object.color = 5
        try write(["items": ["b"], "size": 2, "color": 7], for: object)
        var settings: any SettingsFile = object
        #expect(told { take(&settings) }.hasSuffix("color: was not copied by copyValues(from:)"))
        object.color = 7
        succeeds(operation == .settingsReset || take(&settings) && object.items == ["b"] && object.size == 2)
    }

    @Test func aFileWithoutAnyKnownKeyIsAnError() throws {
        var settings = OldSettings(volume: 3)
        try write(["loudness": 1, "pages": [1]], for: settings)
        let bytes = try Data(contentsOf: type(of: settings).settingsURL)
        let expected = "expected the keys \"tab\", \"tabs\", \"volume\", found the keys \"loudness\", \"pages\""
        #expect(failure { try settings.tryLoad() }.hasSuffix(expected))
        #expect(try settings == OldSettings(volume: 3) && Data(contentsOf: type(of: settings).settingsURL) == bytes)
        try write(["loudness": 1, "volume": 2], for: settings)
        succeeds(settings.load())
        #expect(settings.volume == 2)
        try write([String: Any](), for: settings)
        succeeds(settings.load())
        let many = Dictionary(uniqueKeysWithValues: (10..<30).map { ("key\($0)", $0) })
        try write(many, for: settings)
        let names = (10..<15).map { "\"key\($0)\"" }.joined(separator: ", ")
        #expect(failure { try settings.tryLoad() }.hasSuffix("found the keys \(names) and 15 more"))
    }

    @Test func anOlderVersionKeepsTheFieldsOfANewerOne() throws {
        var settings = OldSettings()
        let future: [String: Any] = [
            "volume": 1, "tab": ["title": "b", "color": "red"], "theme": ["dark": true],
            "tabs": [["title": "x", "pinned": true], ["title": "y", "pinned": false]],
        ]
        try write(future, for: settings)
        succeeds(settings.load())
        settings.volume = 2
        settings.tab.title = "c"
        settings.tabs.swapAt(0, 1)
        succeeds(settings.save())
        let saved: NSDictionary = [
            "volume": 2, "tab": ["title": "c", "color": "red"], "theme": ["dark": true],
            "tabs": [["title": "y", "pinned": false], ["title": "x", "pinned": true]] as [[String: Any]],
        ]
        #expect(try propertyList(at: type(of: settings).settingsURL) as NSDictionary == saved)
        let before = try fileNumber(at: type(of: settings).settingsURL)
        succeeds(settings.save())
        #expect(try fileNumber(at: type(of: settings).settingsURL) == before, "equal values are not written again")
        // A save of a value that was never loaded keeps the unknown fields, too.
        succeeds(OldSettings(volume: 3).save())
        #expect(try propertyList(at: type(of: settings).settingsURL)["theme"] as? NSDictionary == ["dark": true])
    }
}
