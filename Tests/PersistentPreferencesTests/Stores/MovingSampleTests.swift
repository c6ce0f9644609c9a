@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsStoreKit
import TestSupport
import Testing

/// The sample of the article "Sharing between processes" that moves values to another domain.
@Suite struct MovingSampleTests {
    private let folder = TemporaryFolder.fresh

    private var old: EditorPrefs { EditorPrefs(store: .propertyList(url: folder.file("old.plist"))) }
    private var new: EditorPrefs { EditorPrefs(store: .json(url: folder.file("new.json"))) }

    @Test func everyValueMoves() {
        old.fontSize = 14.5
        old.recent = ["a", "b"]
        #expect(move(from: old, to: new) == nil)
        #expect(new.fontSize == 14.5 && new.recent == ["a", "b"] && old.values.isEmpty)
        #expect(move(from: old, to: new) == nil)
        #expect(new.fontSize == 14.5 && new.recent == ["a", "b"])
    }

    /// The program was killed between the two writes, and has stored another value since.
    @Test func aMoveThatEndedHalfwayIsCompleted() {
        old.fontSize = 14
        old.recent = ["a"]
        new.fontSize = 20
        #expect(move(from: old, to: new) == nil)
        #expect(new.fontSize == 20 && new.recent == ["a"] && old.values.isEmpty)
    }

    @Test func nothingMovesFromADomainThatCannotBeRead() throws {
        old.fontSize = 14
        try FileManager.default.removeItem(at: folder.file("old.plist"))
        try FileManager.default.createDirectory(at: folder.file("old.plist"), withIntermediateDirectories: false)
        let error = move(from: old, to: new)
        guard case .unreadable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(new.values.isEmpty)
    }

    @Test func nothingIsRemovedIfTheNewDomainRejectsAValue() throws {
        let store = PrefsStore.propertyList(url: folder.file("old.plist"))
        try store.update(root: "EditorPrefs") { $0 = ["fontSize": "large", "recent": ["a"]] }
        let error = move(from: old, to: new)
        guard case .typeMismatch? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(new.values.isEmpty && old.values.count == 2)
    }
}
