@testable import PrefsSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
import PrefsStoreKit

/// Observers of an instance that moves to another root, and of roots in a former shape.
@Suite struct RootShapeTests {
    @Test func assigningTheKeyIsAChange() {
        let store = PrefsStore.memory()
        let (one, two) = (store.observedPrefs("One"), store.observedPrefs("Two"))
        one.values = ["a": 1, "b": 1]
        two.values = ["b": 1, "c": 2]
        let prefs = store.observedPrefs("One")
        let listener = Listener(prefs)
        prefs.key = "Two"
        #expect(listener.take() == ["Two a: 1 → -, c: - → 2"])
        one["a"] = 7
        two["c"] = 3
        prefs.key = "Two"
        // An invalid name changes nothing.
        prefs.key = ""
        two["c"] = 4
        let heard = listener.take()
        #expect(heard == ["Two c: 2 → 3", "Two c: 3 → 4"])
        prefs.key = "Nowhere"
        #expect(listener.take().map { $0.replacing(/'.*'/, with: "*") } == ["Nowhere b: 1 → -, c: 4 → -, end: * → -"])
    }

    /// A backend whose observations call once more after their end.
    private final class LateBackend: PrefsBackend {
        let inner = PrefsStore.memory()
        let actions = Locked<[String: @Sendable (PrefsChange) -> Void]>([:])

        func read(root: String) throws -> [String: Any]? { try inner.read(root: root) }

        func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
            try inner.update(root: root, body)
        }

        func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
            actions.withLock { $0[root] = action }
            return PrefsObservation {}
        }

        func tell(_ root: String, from before: Int, to after: Int) throws {
            let change = PrefsChange(root: root, from: ["a": before], to: ["a": after], origin: .thisProcess)
            actions.withLock { $0[root] }?(try #require(change))
        }
    }

    /// What is told of the root that was left is no change of the new one.
    @Test func aLateCallOfTheFormerRootIsNotHeard() throws {
        let backend = LateBackend()
        for (root, value) in [("One", 1), ("Two", 5)] { try backend.inner.update(root: root) { $0 = ["a": value] } }
        let prefs = AnyPrefs(["a"], key: "One", store: backend.store)
        let heard = Heard<String>()
        let root = try #require(prefs.observedRoot(of: []))
        let subscription = try #require(
            prefs.subscribe(
                to: root,
                .each { heard.append("\($0.key) \($0.difference.old.objects) → \($0.difference.new.objects)") }))
        prefs.key = "Two"
        try backend.tell("One", from: 1, to: 2)
        try backend.tell("Two", from: 5, to: 6)
        #expect(heard.all == [#"Two ["a": 1] → ["a": 5]"#, #"Two ["a": 5] → ["a": 6]"#])
        subscription.end()
    }

    /// Another thread assigns the key after the observer has read it and before it subscribes.
    @Test func aMoveDuringTheStartIsFollowed() throws {
        let store = PrefsStore.memory()
        let prefs = store.observedPrefs("One")
        let root = try #require(prefs.observedRoot(of: []))
        prefs.key = "Two"
        let heard = Heard<String>()
        let subscription = try #require(
            prefs.subscribe(to: root, .each { heard.append($0.key) }))
        for key in ["One", "Two"] { store.observedPrefs(key)["a"] = 1 }
        #expect(heard.all == ["Two"])
        subscription.end()
    }

    /// Observers of some keys beside an observer of all keys, in both orders.
    @Test func eachObserverGetsItsPartOfAChange() {
        let prefs = PrefsStore.memory().observedPrefs()
        let part = prefs.observer(of: "a", "c"), all = prefs.observer(), last = prefs.observer(of: "b")
        prefs["c"] = "x"
        for number in 1...20 {
            prefs.update { ($0["a"], $0["b"]) = (number, -number) }
            let (a, b) = number == 1 ? ("- → 1", "- → -1") : ("\(number - 1) → \(number)", "\(1 - number) → \(-number)")
            #expect(part.wait(for: number + 1).last == "Root a: \(a)")
            #expect(all.wait(for: number + 1).last == "Root a: \(a), b: \(b)")
            #expect(last.wait(for: number).last == "Root b: \(b)")
        }
    }

    /// Each sees the keys of its own class in one change.
    @Test func observersOfTwoClassesShareARoot() {
        let store = PrefsStore.memory()
        let (one, two) = (AnyPrefs(["a"], key: "Root", store: store), AnyPrefs(["b"], key: "Root", store: store))
        let (first, second) = (one.observer(), two.observer())
        AnyPrefs(key: "Root", store: store).values = ["a": 1, "b": 2]
        #expect(first.wait(for: 1) == ["Root a: - → 1"])
        #expect(second.wait(for: 1) == ["Root b: - → 2"])
    }

    private final class TripledPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var number = 0
        override class var migrations: [PrefsMigration] {
            [PrefsMigration(to: 1) { $0["number"] = ($0["number"] as? Int ?? 0) * 3 }]
        }
    }

    /// What it keeps of a change shows that the root is migrated.
    @Test func anObserverOfOneKeySeesTheVersion() {
        let prefs = TripledPrefs(key: "Root", store: .memory())
        prefs.number = 1
        let (heard, changes) = (prefs.$number.observer(), prefs.observer(of: "number"))
        prefs.number = 5
        #expect(heard.wait(for: 1) == [[1, 5]])
        #expect(changes.wait(for: 1) == ["Root number: 1 → 5"])
    }

    /// An override that derives the root key from the assigned one.
    private final class AccountPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 0
        override var key: String {
            get { "account " + super.key }
            set { super.key = newValue }
        }
    }

    @Test func anOverriddenKeyIsObserved() {
        let prefs = AccountPrefs(key: "one", store: .memory())
        let heard = prefs.observer()
        prefs.size = 1
        prefs.key = "two"
        prefs.size = 2
        #expect(
            heard.wait { $0.last?.hasSuffix("- → 2") == true }
                == ["account one size: - → 1", "account two size: 1 → -", "account two size: - → 2"])
    }

    @Test func aSequenceMovesWithItsInstance() async {
        let store = PrefsStore.memory()
        let prefs = ShapedPrefs(key: "One", store: store)
        let updates = prefs.$size.updates
        ShapedPrefs(key: "Two", store: store).size = 5
        prefs.size = 3
        prefs.key = "Two"
        prefs.size = 6
        #expect(await updates.prefix(4).reduce(into: []) { $0.append($1) } == [0, 3, 5, 6])
    }

    /// Version 1 has ten times the size, under a new name.
    private final class ShapedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.formerly("width")) var size = 0
        @Pref var name = ""

        override class var migrations: [PrefsMigration] {
            [
                PrefsMigration(to: 1) { values in
                    if let width = values["width"] as? Int { values["width"] = width * 10 }
                }
            ]
        }
    }

    /// Both get the whole change of a newer root, because a newer version of the class may have a key that is a former one here.
    @Test(arguments: [1, 2]) func observersOfTwoKeysOfAMigratedClass(_ version: Int) throws {
        let store = PrefsStore.memory()
        if version > 1 {
            try store.update(root: "Root") { $0 = [RootSchema.defaultVersionKey: version, "width": 4, "size": 1] }
        }
        let prefs = ShapedPrefs(key: "Root", store: store)
        prefs.size = 1
        let (sizes, names) = (prefs.observer(of: "size"), prefs.observer(of: "name"))
        prefs.update { (prefs.size, prefs.name) = (2, "x") }
        #expect(sizes.wait(for: 1) == ["Root size: 1 → 2"])
        #expect(names.wait(for: 1) == ["Root name: - → 'x'"])
    }

    /// A root of an earlier version is migrated as a whole. Later, an observer of one key gets nothing of the others, which
    /// would wait and be counted.
    @Test func anObserverOfOneKeyGetsTheOthersWhileTheRootIsMigrated() throws {
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = ["width": 4, "name": "x"] }
        let prefs = ShapedPrefs(key: "Root", store: store)
        let heard = Heard<[String]>()
        let root = try #require(prefs.observedRoot(of: ["size"]))
        let subscription = try #require(
            prefs.subscribe(to: root, .each { heard.append($0.after.members.keys.sorted()) }))
        prefs.name = "y"
        let version = RootSchema.defaultVersionKey
        #expect(heard.all == [[version, "name", "size"]])
        prefs.name = "z"
        prefs.size = 1
        #expect(heard.all == [[version, "name", "size"], [version, "size"]])
        subscription.end()
    }

    private final class RenamedPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.formerly("width", "breadth")) var size = 0
        @Pref var name = ""
    }

    /// The first write changes the shape of the root. Observers see only the written change.
    @Test func aRootOfAFormerVersion() throws {
        let file = try TypedFile(["width": 4, "stale": true])
        let prefs = ShapedPrefs(key: TypedFile.root, store: file.store)
        let heard = prefs.observer(), sizes = prefs.$size.observer()
        prefs.name = "x"
        #expect(heard.wait(for: 1) == ["Root name: - → 'x'"])
        prefs.size = 41
        // A program of the former version writes the whole root again.
        try file.put(["width": 5, "name": "x"])
        prefs.name = "y"
        #expect(
            heard.wait(for: 4) == [
                "Root name: - → 'x'", "Root size: 40 → 41", "Root size: 41 → 50", "Root name: 'x' → 'y'",
            ])
        #expect(sizes.wait(for: 2) == [[40, 41], [41, 50]])
    }

    @Test func aKeyThatIsRenamed() throws {
        let file = try TypedFile(["width": 4])
        let prefs = RenamedPrefs(key: TypedFile.root, store: file.store)
        let heard = prefs.observer(), sizes = prefs.$size.observer()
        prefs.name = "x"
        prefs.size = 5
        try file.put(["breadth": 6, "name": "x"])
        prefs.$size.reset()
        #expect(
            heard.wait(for: 4) == [
                "Root name: - → 'x'", "Root size: 4 → 5", "Root size: 5 → 6", "Root size: 6 → -",
            ])
        #expect(sizes.wait(for: 3) == [[4, 5], [5, 6], [6, 0]])
    }

    /// Waiting changes are merged in the current shape: the values before the first and after the last.
    @Test func changesOfFormerShapesThatWaitBecomeOne() throws {
        let store = PrefsStore.memory()
        let prefs = ShapedPrefs(key: "Root", store: store)
        let stall = Stall()
        let heard = stall.observer(of: prefs)
        let commits = WaitingChanges.capacity + 200
        for number in 1...commits {
            // The first change is being delivered, and does not wait.
            if number == 2 { stall.waitInside() }
            // Alternates between the former and the current shape.
            if number % 3 == 0 {
                prefs.size = number * 10
            } else {
                try store.update(root: "Root") { $0 = ["width": number] }
            }
        }
        stall.gate.open()
        let all = heard.wait { $0.reduce(0) { $0 + $1.count } >= commits }
        var size: Int?
        for change in all {
            #expect(change.keys == ["size"])
            #expect(change.oldValues["size"] as? Int == size)
            size = change.newValues["size"] as? Int
        }
        #expect(size == commits * 10)
        #expect(all.count == WaitingChanges.capacity + 1)
    }
}
