@testable import PrefsSupport
import Foundation
import PersistentPreferences
import Testing
import PrefsKeys
import PrefsStoreKit

private final class ListPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var recent: [String] = []
    @Pref(.in(0...9)) var number = 0
    @Pref var other = 1
    @Pref var text: String?
}

private struct recent: PrefKey { static let defaultValue: [String] = [] }

extension AppSettingsValues {
    fileprivate var recentFiles: [String] {
        get { self[recent.self] }
        _modify { yield &self[recent.self] }
    }
}

private func add(to list: inout [String]) {
    list.append("new")
}

/// A change in place starts from the stored value, or stores nothing.
@Suite struct InPlaceTests {
    @Test func aChangeInPlaceIsStored() {
        let prefs = ListPrefs(store: .memory())
        prefs.recent.append("a")
        add(to: &prefs.recent)
        #expect(prefs.recent == ["a", "new"] && prefs.outcome == "ok")
        prefs.recent += ["b", "c"]
        prefs.recent[0] = "z"
        #expect(prefs.recent == ["z", "new", "b", "c"])
        prefs.text = "a"
        prefs.text?.append("b")
        prefs.text? += "c"
        #expect(prefs.text == "abc" && prefs.outcome == "ok")
        prefs.number += 3
        swap(&prefs.number, &prefs.other)
        #expect(prefs.number == 1 && prefs.other == 3)
        prefs.number += 9
        #expect(prefs.outcome == "number: must be in 0...9" && prefs.number == 1)
    }

    /// The changed default must not replace a value that could not be read.
    @Test(
        arguments: [["recent": "a;b"], ["recent": [1]], ["number": 10], ["number": "few"]] as [[String: any Sendable]])
    func whatDoesNotFitIsNotReplaced(_ stored: [String: any Sendable]) throws {
        let store = PrefsStore.memory()
        try store.update(root: "ListPrefs") { $0 = stored }
        let before = try exactForm(store.read(root: "ListPrefs") ?? [:])
        let prefs = ListPrefs(store: store)
        if stored["recent"] != nil { prefs.recent.append("new") } else { prefs.number += 1 }
        #expect(prefs.lastError != nil)
        #expect(try exactForm(store.read(root: "ListPrefs") ?? [:]) == before)
        // An assignment replaces the stored value.
        if stored["recent"] != nil { prefs.recent = ["new"] } else { prefs.number = 1 }
        #expect(prefs.outcome == "ok")
        #expect(stored["recent"] == nil ? prefs.number == 1 : prefs.recent == ["new"])
    }

    @Test func whatCannotBeReadIsNotReplaced() throws {
        let file = try TypedFile(["recent": ["a", "b"]])
        let prefs = ListPrefs(key: TypedFile.root, store: file.store)
        let (path, aside) = (file.folder.file().path, file.folder.file("aside").path)
        func change(_ list: inout [String]) throws {
            // The file is readable again.
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: aside, toPath: path)
            list.append("new")
        }
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try change(&prefs.recent)
        #expect(prefs.outcome.contains("is a folder"))
        #expect(prefs.recent == ["a", "b"])
    }

    @Test func keysOutsideAClassDoTheSame() throws {
        let store = PrefsStore.memory()
        try store.update(root: "R") { $0 = ["recent": "a;b"] }
        let values = AppSettingsValues(store: store, root: "R")
        values[recent.self].append("new")
        values.recentFiles.append("new")
        #expect(try store.read(root: "R")?["recent"] as? String == "a;b")
        values[recent.self] = ["a"]
        values[recent.self].append("b")
        values.recentFiles.append("c")
        #expect(values[recent.self] == ["a", "b", "c"])
    }
}
