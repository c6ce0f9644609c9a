import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsSettingsFiles

private enum Outer {
    struct Inner: SettingsFile {}
    struct Box<Value: Codable>: SettingsFile {}
    struct `a/b`: SettingsFile {}
}

private struct Inner: SettingsFile {}
private struct Box<Value: Codable>: SettingsFile {}

@Suite struct SettingsNameTests {
    private func name(_ settings: some SettingsFile) -> String {
        type(of: settings).settingsURL.deletingPathExtension().lastPathComponent
    }

    @Test func aFileIsNamedAfterItsType() {
        struct Local: SettingsFile {}
        #expect(AppSettingsOfNoPlace.settingsURL.lastPathComponent == "AppSettingsOfNoPlace.plist")
        #expect(name(Outer.Inner()) == "Inner" && name(Inner()) == "Inner", "as \"\\(Self.self)\"")
        #expect(name(Local()) == "Local")
        #expect(name(Box<Int>()) == "Box%3CInt%3E")
        #expect(name(Outer.Box<[String: Int]>()) == "Box%3CDictionary%3CString%2C%20Int%3E%3E")
        // A name leads to no other folder.
        let url = Outer.`a/b`.settingsURL
        #expect(url.lastPathComponent.contains("%2F"))
        #expect(url.deletingLastPathComponent() == Inner.settingsURL.deletingLastPathComponent())
    }
}

private struct AppSettingsOfNoPlace: SettingsFile {}
