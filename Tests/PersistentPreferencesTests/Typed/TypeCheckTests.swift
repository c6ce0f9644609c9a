@testable import EngineSupport
@testable import PrefsSupport
import Foundation
import PersistentPreferences
import Testing
import WriteOperations

private enum Mode: String, CaseIterable { case plain, rich }

private struct Style: Codable, Equatable {
    var name = "none"
    var weight = 400
}

private final class TypedPrefs: RecordingPrefs, @unchecked Sendable {
    @Pref var size = 1.0
    @Pref var total = 0
    @Pref var mode = Mode.plain
    @Pref var list: [Int] = []
    @Pref var style = Style()
    @Pref var note: String? = nil
}

/// No property has a constraint here: the types are enough.
@Suite(.limited) struct TypeCheckTests {
    private static let bad: [(key: String, value: any Sendable, reason: String)] = [
        ("size", "3", "size: expected Double, found a string"),
        ("size", true, "size: expected Double, found a Boolean"),
        ("total", 4.5, "total: expected Int, found a real number"),
        ("mode", "other", "mode: expected one of plain, rich, found an unknown raw value"),
        ("list", [1, "a"] as [any Sendable], "list[1]: expected Int, found a string"),
        (
            "style", ["name": 4, "weight": 400] as [String: any Sendable],
            "style.name: expected String, found an integer"
        ),
        ("note", 5, "note: expected String, found an integer"),
    ]

    private static let good: [(key: String, value: any Sendable)] = [
        ("size", 3), ("total", 4.0), ("mode", "rich"), ("list", [Int]()),
        ("style", ["name": "a", "weight": 1] as [String: any Sendable]),
        ("note", "x"),
    ]

    private func store(
        _ value: Any, under key: String, of prefs: TypedPrefs, in store: any PrefsStore, by operation: WriteOperation
    ) async -> PrefsError? {
        await WriteTarget(
            prefs, key: key, with: key == "total" ? [:] : ["total": 2],
            create: { TypedPrefs(key: "Root", values: $0, store: store) }, to: { value }
        ).perform(operation)
    }

    @Test(arguments: WriteOperation.untyped)
    func aValueOfAnotherTypeIsRejected(_ operation: WriteOperation) async throws {
        for (key, value, reason) in Self.bad {
            let store = InMemoryStore()
            try store.update(root: "Root") { $0 = ["total": 1] }
            let prefs = TypedPrefs(key: "Root", store: store)
            let error = await self.store(value, under: key, of: prefs, in: store, by: operation)
            #expect(error?.description == reason, "\(operation) \(key)")
            let failures = try #require(error?.detail(of: PrefsError.typeMismatch), "\(operation) \(key)")
            #expect(failures.map(\.topLevelKey) == [key])
            let stored = try #require(try store.read(root: "Root"))
            #expect(stored.count == 1 && stored["total"] as? Int == 1, "nothing has changed")
        }
    }

    @Test(arguments: WriteOperation.untyped)
    func aValueThatReadsBackIsStored(_ operation: WriteOperation) async throws {
        for (key, value) in Self.good {
            let store = InMemoryStore()
            let prefs = TypedPrefs(key: "Root", store: store)
            let error = await self.store(value, under: key, of: prefs, in: store, by: operation)
            #expect(error == nil, "\(operation) \(key)")
            #expect(try store.read(root: "Root")?[key] != nil)
        }
    }

    // MARK: - Observers

    @Test func anObserverIsToldOfABadValueByTheFailureHandler() async throws {
        let store = InMemoryStore()
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

    @Test func aCallbackIsToldOfABadValueByTheFailureHandler() async throws {
        let store = InMemoryStore()
        let prefs = TypedPrefs(key: "Root", store: store)
        let (values, continuation) = AsyncStream.makeStream(of: [Int].self)
        let observation = prefs.$total.onChange { continuation.yield([$0, $1] + [prefs.errors.count]) }
        defer { observation.cancel() }
        var received = values.makeAsyncIterator()
        prefs.total = 7
        #expect(await received.next() == [0, 7, 0])
        try store.update(root: "Root") { $0?["total"] = "7" }
        #expect(await received.next() == [7, 0, 1])
    }

    @Test func theValueThatAnObservationStartsWithIsReportedToo() async throws {
        let store = InMemoryStore()
        try store.update(root: "Root") { $0 = ["size": "3"] }
        let prefs = TypedPrefs(key: "Root", store: store)
        var sizes = prefs.$size.updates.makeAsyncIterator()
        #expect(await sizes.next() == 1)
        #expect(prefs.errors == ["size: expected Double, found a string"])
    }

    // MARK: - Migrations

    private final class MigratedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.in(8...72)) var size = 12
        @Pref var name = "none"

        override class var migrations: [PrefsMigration] {
            [
                PrefsMigration(to: 1) { values in
                    guard let points = values.removeValue(forKey: "points") else { return }
                    values["size"] = (points as? Int).map { $0 * 2 } ?? points
                }
            ]
        }
    }

    /// One bad value of an older version must not make the whole root unusable.
    @Test func aBadValueThatAStepMovesIsKept() throws {
        let store = InMemoryStore()
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

        prefs.name = "y"
        #expect(prefs.outcome == "ok" && prefs.name == "y")
        #expect(try file.stored == exactly(["size": 6, "name": "y", "PersistentPreferences version": 1]))
        #expect(try quarantined() == [unmigrated])
        #expect(prefs.size == 12 && prefs.outcome == "size: must be in 8...72")
        prefs.update { $0["name"] = "z" }
        #expect(prefs.outcome == "ok")
        prefs.size = 20
        #expect(prefs.outcome == "ok" && prefs.size == 20 && prefs.name == "z")
        #expect(try quarantined() == [unmigrated])
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
