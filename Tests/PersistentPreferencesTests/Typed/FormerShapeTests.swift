@testable import PrefsSupport
import PersistentPreferences
import PrefsStoreKit
import TestSupport
import Testing

private final class RenamedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("sz")) var size = 12
    override var allowedKeys: [String] { ["a", "c"] }
    override class var formerRootKeys: [String] { ["OldRenamed"] }
}

private final class SteppedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var size = 12
    static let runs = Locked(0)

    override class var migrations: [PrefsMigration] {
        [
            PrefsMigration(to: 1) { values in
                runs.withLock { $0 += 1 }
                values["size"] = 2 * (values["size"] as? Int ?? 0)
            }
        ]
    }
}

/// A class whose step writes to the root, which a step should not do.
private final class NestingPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0
    @Pref var side = 0

    @TaskLocal static var place: Place?

    /// The store that the step writes to, and the number of its writes.
    final class Place: @unchecked Sendable {
        let store = PrefsStore.memory()
        var runs = 0
    }

    override class var migrations: [PrefsMigration] {
        [
            PrefsMigration(to: 1) { values in
                guard let place else { return }
                place.runs += 1
                AnyPrefs(["side"], key: "Root", store: place.store)["side"] = place.runs
                values["number"] = 7
            }
        ]
    }
}

/// A root in a former shape, in stores that give one root at a time.
@Suite struct FormerShapeTests {
    enum Kind: CaseIterable {
        case memory, foreign

        var store: PrefsStore { self == .memory ? PrefsStore.memory() : ForeignBackend().store }
    }

    /// The commit of an update starts from the result of the writes in its body.
    @Test(arguments: Kind.allCases) func aWriteInTheBodyStays(_ kind: Kind) throws {
        let store = kind.store
        try store.update(root: "Root") { $0 = ["sz": 3] }
        let prefs = RenamedPrefs(key: "Root", store: store)
        let failure = prefs.update { values in
            prefs.size = 5
            values["c"] = 1
        }.failure
        #expect(failure == nil)
        #expect(try store.read(root: "Root") as? [String: Int] == ["size": 5, "c": 1])
    }

    @Test(arguments: Kind.allCases) func aRootThatTheBodyDeletesStaysDeleted(_ kind: Kind) throws {
        let store = kind.store
        try store.update(root: "Root") { $0 = ["a": 1] }
        let prefs = RenamedPrefs(key: "Root", store: store)
        #expect(
            prefs.update { values in
                prefs.deleteRoot()
                values["a"] = nil
            }.failure == nil)
        #expect(try store.read(root: "Root") == nil)
    }

    /// Returns the same objects at each read.
    private final class KeepingBackend: PrefsBackend {
        private let objects: @Sendable () -> [String: Any]?

        init() {
            nonisolated(unsafe) let values: [String: Any] = ["size": 4]
            objects = { values }
        }

        func read(root: String) -> [String: Any]? { objects() }
        func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
            var values = objects()
            try body(&values)
        }
    }

    @Test func aStepRunsOnceForEachStateOfAForeignStore() {
        let prefs = SteppedPrefs(key: "Root", store: KeepingBackend().store)
        for _ in 0..<3 { #expect(prefs.size == 8 && prefs.values["size"] as? Int == 8) }
        #expect(SteppedPrefs.runs.withLock { $0 } == 1)
    }

    /// The commit of a migration, whose values are older, does not undo a write that a step has made in another way.
    @Test func aWriteOfAStepStays() {
        let place = NestingPrefs.Place()
        let others = AnyPrefs(["number", "side"], key: "Root", values: ["number": 1], store: place.store)
        NestingPrefs.$place.withValue(place) {
            let prefs = NestingPrefs(key: "Root", store: place.store)
            prefs["number"] = 9
            #expect(prefs.outcome == "ok" && place.runs > 1)
            #expect(prefs.ints == ["number": 9, "side": place.runs] && others.ints == prefs.ints)
        }
    }

    /// A class with former root keys can also delete an entry of another type.
    @Test func anEntryOfAnotherTypeIsDeleted() throws {
        let folder = try TemporaryFolder()
        try writePropertyList(["RenamedPrefs": "text", "OldRenamed": ["size": 1]], to: folder.file())
        let prefs = RenamedPrefs(store: .propertyList(url: folder.file()))
        #expect(prefs.lastError == .rootIsNotDictionary(key: "RenamedPrefs"))
        prefs.deleteRoot()
        #expect(prefs.lastError == nil)
        #expect(try propertyList(at: folder.file()) as? [String: [String: Int]] == [:])
    }
}
