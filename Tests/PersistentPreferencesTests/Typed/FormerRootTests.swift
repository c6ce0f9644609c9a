@testable import EngineSupport
@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import WriteOperations

private final class ReaderPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var size = 12
    @Pref(.formerly("title")) var name = "none"
    override class var formerRootKeys: [String] { ["EditorPrefs", "Prefs"] }
}

/// Renaming a class loses nothing, if the class names its former root keys.
@Suite(.limited) struct FormerRootTests {
    private static let own = "ReaderPrefs"

    private let folder = TemporaryFolder.fresh

    private func store(_ roots: [String: [String: Any]]) throws -> PrefsStore {
        let store = PrefsStore.propertyList(url: folder.file("\(UUID()).plist"), durability: .crash)
        for (root, values) in roots { try store.update(root: root) { $0 = values } }
        return store
    }

    @Test func theFirstFormerRootThatExistsIsRead() throws {
        let store = try store(["EditorPrefs": ["size": 20, "title": "a", "other": 1], "Prefs": ["size": 30]])
        let prefs = ReaderPrefs(store: store)
        #expect(prefs.size == 20 && prefs.name == "a" && prefs.values.count == 2 && prefs["size"] as? Int == 20)
        #expect(prefs.lastError == nil)
        #expect(try store.read(root: Self.own) == nil, "reading writes nothing")
        #expect(ReaderPrefs(store: try self.store(["Prefs": ["size": 30]])).size == 30)
    }

    @Test(arguments: WriteOperation.of(.property, .instance).filter { $0.effect == .puts })
    func theFirstWriteMovesIt(_ operation: WriteOperation) async throws {
        let store = try store(["EditorPrefs": ["size": 20, "title": "a", "other": 1], "Prefs": ["size": 30]])
        let prefs = ReaderPrefs(store: store)
        let target = WriteTarget(
            prefs, \.size, \.$size, with: operation.keepsOtherKeys ? [:] : ["name": "a"],
            create: { ReaderPrefs(values: $0, store: store) }, change: { $0 = 21 })
        #expect(await target.perform(operation) == nil)
        #expect(prefs.lastError == nil && prefs.size == 21 && prefs.name == "a")
        #expect(try store.read(root: "EditorPrefs") == nil, "moved in the same transaction")
        #expect(try store.read(root: "Prefs")?["size"] as? Int == 30, "the other one stays")
        #expect(try store.read(root: Self.own)?["other"] as? Int == 1, "with the keys of other versions")
    }

    @Test func anEqualWriteAndARejectedOneMoveNothing() throws {
        let store = try store(["EditorPrefs": ["size": 20]])
        let prefs = ReaderPrefs(store: store)
        prefs.size = 20
        #expect(prefs.lastError == nil)
        prefs["size"] = "x"
        #expect(prefs.lastError != nil)
        #expect(throws: Stop.self) {
            try prefs.update {
                prefs.size = 5
                throw Stop()
            }
        }
        #expect(try store.read(root: "EditorPrefs")?["size"] as? Int == 20)
        #expect(try store.read(root: Self.own) == nil)
    }

    @Test func nothingComesBackAfterADeletion() throws {
        for delete in [{ $0.deleteRoot() }, { $0.resetAll() }] as [(ReaderPrefs) -> Void] {
            let store = try store(["EditorPrefs": ["size": 20]])
            let prefs = ReaderPrefs(store: store)
            delete(prefs)
            #expect(prefs.lastError == nil && prefs.size == 12 && prefs.values.count == 0)
            #expect(try store.read(root: "EditorPrefs") == nil)
        }
    }

    /// With a root of its own, and with the root under the first or the last former key.
    @Test(arguments: [[own, "EditorPrefs", "Prefs"], ["EditorPrefs", "Prefs"], [own, "Prefs"], ["Prefs"]])
    func aDeletionRemovesEveryFormerRoot(_ roots: [String]) throws {
        let store = try store(Dictionary(uniqueKeysWithValues: roots.map { ($0, ["size": 20]) }))
        let prefs = ReaderPrefs(store: store)
        #expect(prefs.deleteRoot() == nil && prefs.size == 12)
        for root in roots { #expect(try store.read(root: root) == nil, "\(root)") }
    }

    @Test func nothingOfOtherFormerRootsComesBackAfterAClear() throws {
        let store = try store(["EditorPrefs": ["size": 20], "Prefs": ["size": 30]])
        let prefs = ReaderPrefs(store: store)
        prefs.resetAll()
        #expect(prefs.lastError == nil && prefs.size == 12 && prefs.values.count == 0)
        prefs.size = 5
        // An old version that is still running.
        try store.update(root: "EditorPrefs") { $0 = ["size": 40] }
        prefs.resetAll()
        #expect(prefs.size == 12 && prefs.values.count == 0)
        #expect(try store.read(root: "Prefs")?["size"] as? Int == 30)
        #expect(try store.read(root: "EditorPrefs")?["size"] as? Int == 40)
    }

    private class Base: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 12
        override class var formerRootKeys: [String] { ["OldBase"] }
    }

    private final class Derived: Base, @unchecked Sendable {}

    @Test func aListThatIsInheritedBelongsToTheBaseClass() throws {
        let store = try store(["OldBase": ["size": 42]])
        let derived = Derived(store: store)
        #expect(derived.size == 12)
        derived.size = 7
        #expect(Base(store: store).size == 42)
    }

    private final class FirstHalf: PersistentPrefs, @unchecked Sendable {
        @Pref var one = 0
        override class var formerRootKeys: [String] { ["Whole"] }
    }

    private final class SecondHalf: PersistentPrefs, @unchecked Sendable {
        @Pref var two = 0
        override class var formerRootKeys: [String] { ["Whole"] }
    }

    @Test func twoClassesWithOneFormerKeyAreReported() throws {
        let store = try store(["Whole": ["one": 1, "two": 2]])
        #expect(FirstHalf(store: store).lastError == nil)
        let shared = try #require(SecondHalf(store: store).lastError?.detail(of: PrefsError.problem))
        #expect(
            shared.reason.hasSuffix(
                "FirstHalf and \(String(reflecting: SecondHalf.self)) share the root \"Whole\"; give one of them a root key of its own"
            ), "the first write of either moves the root of both: \(shared.reason)")
    }

    @Test func anEntryThatIsNotARootIsLeftAlone() throws {
        let file = folder.file("others.plist")
        try writePropertyList(["EditorPrefs": "of another program", "Prefs": ["size": 30]], to: file)
        let prefs = ReaderPrefs(store: .propertyList(url: file, durability: .crash))
        #expect(prefs.size == 30 && prefs.lastError == nil)
        prefs.size = 31
        prefs.deleteRoot()
        #expect(prefs.lastError == nil)
        #expect(try propertyList(at: file) as? [String: String] == ["EditorPrefs": "of another program"])
    }

    @Test func aRootOfItsOwnWinsOverAFormerOneAndAnotherKeyHasNoFormerOnes() throws {
        let store = try store(["EditorPrefs": ["size": 20], Self.own: ["size": 5]])
        let prefs = ReaderPrefs(store: store)
        prefs.size += 1
        #expect(prefs.size == 6 && ReaderPrefs(key: "Second", store: store).size == 12)
        #expect(try store.read(root: "EditorPrefs")?["size"] as? Int == 20)
    }

    @Test func observersStartWithTheFormerRootAndReceiveTheMoveAsOneChange() async throws {
        let prefs = ReaderPrefs(store: try store(["EditorPrefs": ["size": 20, "title": "a", "other": 1]]))
        var changes = prefs.changes().makeAsyncIterator()
        var sizes = prefs.$size.updates.makeAsyncIterator()
        #expect(await sizes.next() == 20)
        prefs.size = 21
        #expect(await sizes.next() == 21)
        let move = try #require(await changes.next())
        #expect(move.keys == ["name", "size"] && move.count == 1 && move.root == Self.own && move.oldValues.isEmpty)
        #expect(move.newValues as NSDictionary == ["name": "a", "size": 21])
        prefs.size = 22
        #expect(await changes.next()?.keys == ["size"])
    }

    /// The class before it was renamed.
    private final class EditorPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 12
    }

    @Test func anOlderVersionThatStillRunsStartsWithAnEmptyRoot() async throws {
        let store = try store(["EditorPrefs": ["size": 20]])
        let (old, prefs) = (EditorPrefs(store: store), ReaderPrefs(store: store))
        prefs.size = 21
        var changes = prefs.changes().makeAsyncIterator()
        #expect(old.size == 12 && !old.$size.isStored)
        old.size = 5
        #expect(prefs.size == 21)
        prefs.size = 22
        #expect(await changes.next()?.newValues as? [String: Int] == ["size": 22], "nothing is said of the other root")
        #expect(try store.read(root: "EditorPrefs")?["size"] as? Int == 5)
    }

    @Test func aFlatLayoutIgnoresThem() throws {
        let url = try #require(store(["EditorPrefs": ["size": 20]]).url)
        let prefs = ReaderPrefs(store: .propertyList(url: url, durability: .crash, layout: .flat))
        #expect(prefs.size == 12 && prefs.name == "none" && prefs.lastError == nil)
        prefs.size = 13
        #expect(prefs.lastError == nil)
        #expect(try propertyList(at: url) as NSDictionary == ["EditorPrefs": ["size": 20], "size": 13])
    }

    /// Another process moves the root after the read of its key and before the read of its former key.
    @Test(arguments: ["EditorPrefs", "Prefs"]) func aRootThatIsMovedBetweenTwoLooksIsFound(_ former: String) throws {
        let roots = try store([former: ["size": 20, "title": "a"]])
        let interruption = Interruption()
        let reading = ForeignBackend(roots, beforeRead: { if $0 == former { try interruption.runOnce() } }).store
        let prefs = ReaderPrefs(store: reading)
        interruption.set { ReaderPrefs(store: roots).size = 21 }
        #expect(prefs.size == 21 && prefs.name == "a" && prefs.lastError == nil)
        #expect(try roots.read(root: former) == nil)
    }
}
