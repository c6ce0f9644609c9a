@testable import EngineSupport
@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import TestSupport
import Testing

private final class TypedPrefs: RecordingPrefs, @unchecked Sendable {
    @Pref var size = 1.0
    @Pref var total = 0
}

/// Observers and migrations that meet values of another type. `ConstraintTests` has reads and writes.
@Suite(.limited) struct TypeCheckTests {
    @Test func anObserverIsToldOfABadValueByTheFailureHandler() async throws {
        let store = PrefsStore.memory()
        let prefs = TypedPrefs(key: "Root", store: store)
        var sizes = prefs.$size.updates.makeAsyncIterator()
        #expect(await sizes.next() == 1)
        prefs.size = 2
        #expect(await sizes.next() == 2)
        let message = "size: expected Double, found a string"
        try store.update(root: "Root") { $0?["size"] = "3" }
        #expect(await sizes.next() == 1)
        #expect(prefs.errors == [message] && prefs.lastError == nil, "it is not an access of this thread")
        try store.update(root: "Root") { $0?["total"] = 5 }
        prefs.size = 4
        #expect(await sizes.next() == 4)
        #expect(prefs.errors == [message], "once for each bad value")
    }

    @Test func theValueThatAnObservationStartsWithIsReportedToo() async throws {
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = ["size": "3"] }
        let prefs = TypedPrefs(key: "Root", store: store)
        var sizes = prefs.$size.updates.makeAsyncIterator()
        #expect(await sizes.next() == 1)
        #expect(prefs.errors == ["size: expected Double, found a string"])
    }

    private final class MixedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.in(0...9)) var digit = 0
        @Pref(.length(...3)) var text = ""
        @Pref var flag = false
    }

    /// The kind of the error is that of its worst value, whatever the order.
    @Test func oneErrorHasTheMismatchesAndViolationsOfAWrite() {
        let prefs = MixedPrefs(store: .memory())
        prefs.values = ["digit": 10, "text": "long", "flag": true]
        #expect(prefs.lastError?.detail(of: PrefsError.constraintViolated)?.map(\.path) == ["digit", "text"])
        for values in [["digit": 10, "flag": 5], ["digit": 10, "text": 5], ["digit": "x", "text": "long"]]
            as [[String: Any]]
        {
            prefs.values = values
            let problems = prefs.lastError?.detail(of: PrefsError.typeMismatch)
            #expect(problems?.map(\.path) == values.keys.sorted(), "\(prefs.outcome)")
        }
    }

    // MARK: - Migrations

    private final class MigratedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.in(8...72)) var size = 12
        @Pref var name = "none"
        @Pref var other = 0

        override class var migrations: [PrefsMigration] {
            [
                PrefsMigration(to: 1) { values in
                    guard let points = values.removeValue(forKey: "points") else { return }
                    values["size"] = (points as? Int).map { $0 * 2 } ?? points
                    if points as? Int == -1 { values["other"] = "four" }
                }
            ]
        }
    }

    /// One bad value of an older version must not make the whole root unusable.
    @Test func aBadValueThatAStepMovesIsKept() throws {
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = ["points": "12", "name": "x"] }
        let prefs = MigratedPrefs(key: "Root", store: store)
        #expect(prefs.size == 12 && prefs.outcome == "size: expected Int, found a string")
        prefs.name = "y"
        #expect(prefs.lastError == nil && prefs["size"] as? String == "12")
        prefs.$size.reset()
        #expect(prefs.size == 12 && prefs.lastError == nil)
    }

    @Test func aBadValueThatAStepCreatesIsKept() throws {
        let file = try TypedFile(["points": 3, "name": "x"])
        let unmigrated = try file.bytes
        func quarantined() throws -> [Data] {
            try file.folder.quarantined().map { try Data(contentsOf: file.folder.file($0)) }
        }
        let prefs = MigratedPrefs(key: TypedFile.root, store: file.store)
        #expect(prefs.lastError == nil && prefs.name == "x" && prefs.lastError == nil)
        #expect(prefs.size == 12 && prefs.outcome == "size: must be in 8...72")
        #expect(prefs.values.count == 2 && prefs["size"] as? Int == 6)
        #expect(try quarantined() == [])
        prefs.name = "x"
        #expect(try file.bytes == unmigrated && quarantined() == [])

        // What an update takes back needs no copy, and neither does a write that is rejected.
        #expect(throws: Stop.self) {
            try prefs.update {
                prefs.name = "y"
                throw Stop()
            }
        }
        #expect(try file.bytes == unmigrated && quarantined() == [])

        prefs.name = "y"
        let kept = try #require(file.folder.quarantined().first)
        let path = file.folder.path + "/test.plist"
        #expect(
            prefs.outcome == "\(path): the migration of the root \"Root\" to version 1 gave values that do not fit: "
                + "size: must be in 8...72; quarantined as \(file.folder.path)/\(kept); the result was stored")
        #expect(prefs.lastError?.isWarning == true && prefs.name == "y")
        #expect(try file.stored == exactly(["size": 6, "name": "y", "PersistentPreferences version": 1]))
        #expect(try quarantined() == [unmigrated])
        #expect(prefs.size == 12 && prefs.outcome == "size: must be in 8...72")
        prefs.update { $0["name"] = "z" }
        #expect(prefs.outcome == "ok")
        prefs.size = 20
        #expect(prefs.outcome == "ok" && prefs.size == 20 && prefs.name == "z")
        #expect(try quarantined() == [unmigrated])
    }

    /// The first of several writes of an update migrates the root, and the others find it migrated.
    @Test(arguments: [1, 2, 3]) func anUpdateOfSeveralWritesKeepsTheStateBeforeTheFirst(_ count: Int) throws {
        let file = try TypedFile(["points": 3, "name": "x"])
        let unmigrated = try file.bytes
        let prefs = MigratedPrefs(key: TypedFile.root, store: file.store)
        let result = prefs.update { for number in 0..<count { prefs.name = "y\(number)" } }
        #expect(result.failure == nil && prefs.lastError?.isWarning == true, "\(prefs.outcome)")
        #expect(try file.stored == exactly(["size": 6, "name": "y\(count - 1)", "PersistentPreferences version": 1]))
        #expect(try file.folder.quarantined().map { try Data(contentsOf: file.folder.file($0)) } == [unmigrated])
    }

    /// Also if another root of the file is written.
    @Test func theFirstOfSeveralBadValuesIsTold() throws {
        let file = try TypedFile(["points": -1])
        let prefs = MigratedPrefs(key: TypedFile.root, store: file.store)
        let next = AnyPrefs(key: "Next", store: file.store)
        let result = prefs.update {
            next["a"] = 1
            prefs.name = "y"
        }
        #expect(result.failure == nil && prefs.lastError?.isWarning == true, "a warning is no failure")
        let told = prefs.lastError?.detail(of: PrefsError.quarantined)
        #expect(told?.reason.hasSuffix("do not fit: other: expected Int, found a string and 1 more") == true)
        #expect(told?.quarantinedAs.map { [URL(filePath: $0).lastPathComponent] } == (try file.folder.quarantined()))
        next["a"] = 2
        #expect(next.outcome == "ok")
    }

    @Test func aStepLeavesBadValuesOfOthersAloneAndKeepsNoCopyWithoutOwn() throws {
        let file = try TypedFile(["points": 10, "name": 4])
        let prefs = MigratedPrefs(key: TypedFile.root, store: file.store)
        #expect(prefs.size == 20 && prefs.lastError == nil)
        prefs.size = 11
        #expect(prefs.lastError == nil)
        #expect(try file.store.read(root: TypedFile.root)?["name"] as? Int == 4)
        #expect(try file.folder.quarantined() == [])
    }
}
