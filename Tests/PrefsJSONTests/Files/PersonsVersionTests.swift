@testable import PrefsSupport
import Foundation
import PrefsJSON
import PrefsStoreKit
import Testing
import TestSupport

@testable import PersistentPreferences
@testable import PrefsFileEngine

/// The version of a file that people write: its key, files without one, and what a migration leaves of the text.
@Suite final class PersonsVersionTests: FolderSuite {
    class MinutesPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var rounding = Duration.zero
        @Pref(.formerly("colour")) var color = "red"
        override class var versionKey: String { "version" }
        override class var migrations: [PrefsMigration] {
            [
                PrefsMigration(to: 2) { values in
                    if let minutes = values["rounding"] as? Int { values["rounding"] = "\(minutes)m" }
                }
            ]
        }
    }

    final class TodayPrefs: MinutesPrefs, @unchecked Sendable {
        override class var unmarkedVersion: Int { 2 }
    }

    final class RenamedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 0
        @Pref var theme = ""
        override class var migrations: [PrefsMigration] {
            [PrefsMigration(to: 1) { $0["size"] = $0.removeValue(forKey: "font size") }]
        }
    }

    private func store(_ text: String) throws -> PrefsStore {
        try put(text)
        return PrefsStore.json(url: url, durability: .crash)
    }

    @Test func aFileWithoutAVersionIsOfTheVersionThatTheClassSays() throws {
        for text in [#"{"rounding": 60}"#, #"{"version": null, "rounding": 60}"#] {
            let old = MinutesPrefs(store: try store(text))
            #expect(old.rounding == .seconds(3_600))
            #expect(
                old.problems().map(\.description) == [
                    #"version: is missing, so the root is read as version 0, and the next write migrates "rounding" to version 2"#
                ])
        }
        let today = TodayPrefs(store: try store(#"{"rounding": 60}"#))
        #expect(today.rounding == .seconds(60) && today.problems().isEmpty && today.lastError == nil)
        today.color = "blue"
        #expect(try text() == #"{"color": "blue", "rounding": 60, "version": 2}"#)
        #expect(today.rounding == .seconds(60))
        // A mark is obeyed.
        let marked = TodayPrefs(store: try store(#"{"version": 1, "rounding": 60}"#))
        #expect(marked.rounding == .seconds(3_600))
        #expect(
            marked.problems().map(\.description) == [
                #"version: is 1, and the next write migrates "rounding" to version 2"#
            ])
        marked.color = "blue"
        #expect(try text() == #"{"version": 2, "rounding": "60m", "color": "blue"}"#)
    }

    /// The program has marked its roots under the default key before the class named another one.
    @Test func theMarkUnderTheDefaultKeyCounts() throws {
        let prefs = MinutesPrefs(store: try store(#"{"PersistentPreferences version": 2, "rounding": 60}"#))
        #expect(prefs.rounding == .seconds(60) && prefs.problems().isEmpty)
        prefs.color = "blue"
        let marked = try text()
        #expect(marked == #"{"version": 2, "color": "blue", "rounding": 60}"#)
        let newer = MinutesPrefs(store: try store(#"{"PersistentPreferences version": 3, "rounding": 60}"#))
        newer.color = "blue"
        #expect(try text() == #"{"PersistentPreferences version": 3, "color": "blue", "rounding": 60}"#)
    }

    /// In the form of today, it may be the file of an older program.
    @Test func aFormerKeyWithoutAVersionIsNamed() throws {
        let prefs = TodayPrefs(store: try store(#"{"rounding": 1, "colour": "blue"}"#))
        #expect(prefs.color == "blue" && prefs.rounding == .seconds(1))
        #expect(
            prefs.problems().map(\.description) == [
                #"version: is missing, and the former key "colour" is there: an older program may have written the root"#
            ])
    }

    @Test func theVersionKeyIsNoValue() throws {
        let prefs = MinutesPrefs(store: try store(#"{"version": 2, "color": "x"}"#))
        #expect(prefs.values.keys.sorted() == ["color"] && prefs.problems().isEmpty)
        prefs["version"] = 3
        #expect(prefs.lastError.kind == "incorrectKeys")
        prefs.resetAll()
        #expect(try text() == #"{"version": 2}"#)
        let newer = MinutesPrefs(store: try store(#"{"version": 3, "rounding": 1}"#))
        newer.color = "y"
        #expect(try text() == #"{"version": 3, "rounding": 1, "color": "y"}"#)
        let schema = String(decoding: MinutesPrefs.jsonSchema(), as: UTF8.self)
        #expect(schema.contains("\"^version$\""))
    }

    /// Only the text of the key changes.
    @Test func aRenamedKeyKeepsItsPlace() throws {
        let prefs = RenamedPrefs(
            store: try store("{\n  \"theme\": \"a\", // first\n  \"font size\": 1.20e1, // points\n  \"z\": null\n}\n"))
        #expect(prefs.size == 12)
        prefs.theme = "b"
        #expect(
            try text() == """
                {
                  "theme": "b", // first
                  "size": 1.20e1, // points
                  "z": null,
                  "PersistentPreferences version": 1
                }

                """)
    }

    @Test func aFileHasTheLayoutAndTheRuleOfItsStore() throws {
        try expectLayoutAndRule(of: .json(url: url, durability: .crash, layout: .roots, malformed: .quarantine))
        let other = folder.file("other.json")
        try PrefsStore.json(url: other, durability: .crash).update(root: "R") { $0 = ["a": 1] }
        #expect(try String(contentsOf: other, encoding: .utf8) == "{\n  \"a\": 1\n}\n")
    }

    /// A dictionary under each root key, and a mistake that is quarantined.
    private func expectLayoutAndRule(of store: PrefsStore) throws {
        let file = try #require(store.url)
        let text = "{\n  \"R\": {\n    \"a\": 1\n  }\n}\n"
        try store.update(root: "R") { $0 = ["a": 1] }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
        try Data("{\n  // mine\n  \"R\": {\"a\": 2,,}\n}\n".utf8).write(to: file)
        try file.setModified(secondsFromNow: -100)
        let prefs = AnyPrefs(key: "R", store: store)
        prefs["a"] = 3
        #expect(prefs.lastError?.isWarning == true && prefs.lastError.kind == "quarantined")
        #expect(try String(contentsOf: file, encoding: .utf8) == text.replacing("1", with: "3"))
    }

    @Test func aProgramHasItsFileInItsFolder() {
        let store = PrefsStore.json(program: "mytool")
        #expect(store.url?.path.hasSuffix("/mytool/config.json") == true)
        #expect(PrefsStore.propertyList(program: "mytool").url?.path.hasSuffix("/mytool/config.plist") == true)
        #expect(MinutesPrefs(store: .json(program: "a/b")).lastError.kind == "invalidName")
        #expect(PrefsStore.json(program: "a/b").url == nil)
    }

    #if os(Linux)
        @Test func aFileOfAProgramHasTheLayoutAndTheRuleOfItsStore() throws {
            let path = ConfigurationFolder.path(of: { $0 == "XDG_CONFIG_HOME" ? self.folder.path : nil })
            try ConfigurationFolder.withPath(path) {
                let store = PrefsStore.json(
                    program: "mytool", durability: .crash, layout: .roots, malformed: .quarantine)
                try expectLayoutAndRule(of: store)
            }
        }

        @Test func theFolderComesFromTheVariables() throws {
            func path(_ variables: [String: String]) throws -> String? {
                try ConfigurationFolder.withPath(ConfigurationFolder.path(of: { variables[$0] })) {
                    let store = PrefsStore.json(program: "mytool")
                    _ = try store.read(root: "x")
                    return store.url?.path
                }
            }
            #expect(try path(["HOME": "/h/u"]) == "/h/u/.config/mytool/config.json")
            #expect(try path(["HOME": "/h/u", "XDG_CONFIG_HOME": "/x"]) == "/x/mytool/config.json")
            #expect(try path(["HOME": "/h/u", "XDG_CONFIG_HOME": "x"]) == "/h/u/.config/mytool/config.json")
            #expect(throws: PrefsError.self) { try path([:]) }
            // A variable that is set, and is not text.
            for name in ["HOME", "XDG_CONFIG_HOME"] {
                let found = ConfigurationFolder.path(of: { $0 == name ? nil : "/h/u" }, isSet: { $0 == name })
                let isText = (try? found.get()) != nil
                #expect(isText == (name == "HOME"), "the folder of the settings counts first")
            }
            let prefs = ConfigurationFolder.withPath(ConfigurationFolder.path(of: { _ in nil })) {
                MinutesPrefs(store: .json(program: "mytool"))
            }
            #expect(prefs.lastError?.description.contains("no home folder") == true)
            // Of the variables that were given, not of those of this process.
            #expect(prefs.lastError?.description.contains("HOME is not set") == true)
        }
    #endif
}
