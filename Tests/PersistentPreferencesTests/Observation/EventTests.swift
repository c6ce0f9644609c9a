@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
import PrefsStoreKit
@testable import PrefsFileEngine
@testable import PrefsJSON

/// One event for each write or update that changed something, with exactly its changes.
@Suite struct EventTests {
    private let folder = TemporaryFolder.fresh
    private let system = RecordingSystemCalls()

    init() { system.flushes = false }

    private func prefs(_ store: PrefsStore, key: String? = "Root") -> AnyPrefs { store.observedPrefs(key) }

    /// A step, and what is heard of it.
    private struct Step {
        let name: String
        let heard: [String]
        let run: () -> Void

        init(_ name: String, _ heard: String..., run: @escaping () -> Void) {
            (self.name, self.heard, self.run) = (name, heard, run)
        }
    }

    @Test(arguments: ObservedPlace.allCases, Watcher.allCases)
    func eachCommitIsOneEvent(_ place: ObservedPlace, _ watcher: Watcher) throws {
        let store = place.store(in: folder, watcher)
        let prefs = prefs(store)
        let listener = Listener(prefs)
        let other = self.prefs(store)
        let steps = [
            Step("write", "Root a: - → 1") { prefs["a"] = 1 },
            Step("equal write") { prefs["a"] = 1 },
            Step("kinds of 1", "Root a: 1 → 1.0 (3ff0000000000000)") { prefs["a"] = 1.0 },
            Step("truth", "Root a: 1.0 (3ff0000000000000) → true") { prefs["a"] = true },
            Step("another instance", "Root b: - → 'x'") { other["b"] = "x" },
            Step("several keys", "Root a: true → 2, b: 'x' → -, c: - → [1]") {
                prefs.update { ($0["a"], $0["b"], $0["c"]) = (2, nil, [1]) }
            },
            Step("equal update") { prefs.update { ($0["a"], $0["c"]) = (2, [1]) } },
            Step("update back and forth") {
                prefs.update {
                    prefs["a"] = 9
                    prefs["a"] = 2
                }
            },
            Step("nested", "Root a: 2 → 3, b: - → 4, c: [1] → -") {
                prefs.update {
                    prefs["a"] = 3
                    other.update { $0["b"] = 4 }
                    prefs.update { prefs.values["c"] = nil }
                }
            },
            Step("in place", "Root a: 3 → 5") { prefs.values["a"] = 5 },
            Step("assigned", "Root a: 5 → -, c: - → 6, end: *") { prefs.values = ["b": 4, "c": 6] },
            Step("import", "Root a: - → 7") { prefs.import(Data(#"{"a": 7, "b": 4}"#.utf8), merge: true) },
            Step("equal import") { prefs.import(Data(#"{"a": 7}"#.utf8), merge: true) },
            Step("clear", "Root a: 7 → -, b: 4 → -, c: 6 → -, end: *") { prefs.resetAll() },
            Step("clear of nothing", "Root end: *") {
                prefs["end"] = nil
                prefs.resetAll()
            },
            Step("thrown") {
                _ = try? prefs.update { _ in
                    prefs["a"] = 1
                    throw Stop()
                }
            },
            Step("refused") {
                prefs.update { ($0["a"], $0["b"]) = (1, Date(timeIntervalSince1970: .nan)) }
            },
            Step("refused inside") {
                prefs.update {
                    prefs["a"] = 1
                    prefs["unknown"] = 1
                }
            },
            Step("before deletion", "Root a: - → data AQ==") { prefs["a"] = Data([1]) },
            Step("deleted", "Root a: data AQ== → -, end: *") { prefs.deleteRoot() },
            Step("deleted again", "Root end: *") { (0..<2).forEach { _ in prefs.deleteRoot() } },
        ]
        for step in steps {
            step.run()
            #expect(listener.take().map(withoutMark) == step.heard, "\(step.name)")
        }
    }

    /// Removes the mark, which has a new value each time.
    private func withoutMark(_ text: String) -> String {
        text.replacing(/end: '[^']*' → -/, with: "end: *")
    }

    @Test func keysOfOtherVersionsAreNotReported() {
        let store = PrefsStore.memory()
        let listener = Listener(prefs(store))
        let newer = AnyPrefs(["a", "new"], key: "Root", store: store)
        newer["new"] = 1
        newer.update { ($0["a"], $0["new"]) = (1, 2) }
        #expect(listener.take() == ["Root a: - → 1"])
    }

    @Test func keysThatAreNotAllowedAreRejected() {
        let prefs = prefs(PrefsStore.memory())
        let heard = prefs.observer(of: "a", "z", "y")
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["y", "z"]))
        prefs["a"] = 1
        #expect(Listener(prefs).take() == [])
        #expect(heard.all == [])
    }

    @Test func theCommittedStateIsReported() throws {
        let prefs = prefs(PrefsStore.propertyList(url: folder.file(), system: system))
        prefs["a"] = 0
        let listener = Listener(prefs)
        system.fail("rename", with: EIO)
        prefs["a"] = 1
        #expect(prefs.outcome.hasSuffix("the stored state is unchanged"))
        #expect(listener.take() == [])
        system.fail("fsync", with: ENOSPC)
        prefs["a"] = 2
        #expect(prefs.outcome.hasSuffix("the stored state is unchanged"))
        #expect(listener.take() == [])
        // The flush of the file, then the flush of its folder.
        system.failFlush(2)
        prefs["a"] = 3
        #expect(
            prefs.outcome.hasSuffix("the new state is stored, but an older one may return after a power cut or damage"))
        system.onCall = nil
        #expect(listener.take() == ["Root a: 0 → 3"])
    }

    /// A root that is not a dictionary has no values, so its removal is not a change. New values in its place are a
    /// change.
    @Test func aRootThatIsNotADictionaryIsEmpty() throws {
        try writePropertyList(["Root": ["a", "list"]], to: folder.file())
        let prefs = folder.observedPrefs()
        let heard = prefs.observer()
        prefs["a"] = 1
        #expect(prefs.lastError == .rootIsNotDictionary(key: "Root"))
        prefs.deleteRoot()
        prefs["a"] = 2
        #expect(heard.wait(for: 1) == ["Root a: - → 2"])
    }

    /// The assignment of all values repairs such a root, as in RVS_PersistentPrefs 1.7. No other write does.
    @Test(arguments: [["a": 2], [:]])
    func allValuesReplaceARootThatIsNotADictionary(_ values: [String: Int]) throws {
        let url = folder.file()
        try writePropertyList(["Root": ["a", "list"], "Other": 1], to: url)
        let prefs = folder.observedPrefs()
        prefs.values["a"] = 1
        #expect(prefs.lastError == .rootIsNotDictionary(key: "Root"))
        prefs.values = ["a": Date(timeIntervalSinceReferenceDate: .nan)]
        #expect(prefs.lastError != nil)
        // A rejected value replaces nothing.
        #expect(try propertyList(at: url)["Root"] as? [String] == ["a", "list"])
        prefs.values = values
        #expect(prefs.lastError == nil)
        #expect(try propertyList(at: url) as NSDictionary == ["Root": values, "Other": 1])
    }

    @Test func aPropertyReportsItsValues() {
        let prefs = SizePrefs(key: "Root", store: .memory())
        let sizes = prefs.$size.observer(), events = prefs.observer()
        prefs.size = 14
        prefs.name = "x"
        // The value does not change: the default is stored, reset, and cannot be read.
        prefs.$size.reset()
        prefs.size = 12
        prefs.$size.reset()
        let raw = AnyPrefs(["size"], key: "Root", store: prefs.ownStore)
        raw["size"] = "large"
        prefs.update { (prefs.size, prefs.name) = (16, nil) }
        #expect(sizes.wait(for: 3) == [[12, 14], [14, 12], [12, 16]])
        #expect(
            events.wait(for: 7) == [
                "Root size: - → 14", "Root name: - → 'x'", "Root size: 14 → -", "Root size: - → 12",
                "Root size: 12 → -", "Root size: - → 'large'", "Root name: 'x' → -, size: 'large' → 16",
            ])
    }

    // MARK: - Stores

    @Test func aStoreWithoutObserveIsSilent() {
        let inner = PrefsStore.memory()
        let prefs = ForeignBackend(inner).store.observedPrefs()
        let heard = prefs.observer()
        #expect(prefs.lastError == nil)
        prefs["a"] = 1
        #expect(prefs["a"] as? Int == 1)
        #expect(Listener(inner.observedPrefs()).take() == [])
        #expect(heard.all == [])
    }

    @Test(arguments: ObservedPlace.kinds)
    func aForwardingStoreReportsChanges(_ place: ObservedPlace) {
        let inner = place.store(in: folder)
        let prefs = AccountBackend(account: "ann", in: inner).store.observedPrefs()
        prefs["c"] = 1
        let listener = Listener(prefs)
        inner.observedPrefs("Root@ann").update { ($0["a"], $0["b"]) = (1, 2) }
        prefs["a"] = nil
        prefs.resetAll()
        #expect(
            listener.take().map { $0.replacing(/, end: .*/, with: "") } == [
                "Root a: - → 1, b: - → 2", "Root a: 1 → -", "Root b: 2 → -, c: 1 → -",
            ])
        prefs.key = "Other"
        prefs["a"] = 5
        #expect(listener.take().map { $0.replacing(/.*end: .*/, with: "end") } == ["end", "Other a: - → 5"])
    }

    @Test func aChangeCanBeMadeForAStoreOfOnesOwn() throws {
        let change = try #require(
            PrefsChange(
                root: "R", from: ["a": 1 as NSNumber, "b": "x"], to: ["a": 1.0 as NSNumber, "b": "x", "c": "y"],
                origin: .elsewhere))
        #expect(change.text == "R a: 1 → 1.0 (3ff0000000000000), c: - → 'y' elsewhere")
        #expect(PrefsChange(root: "R", from: ["b": "x"], to: ["b": "x"], origin: .thisProcess) == nil)
        #expect(PrefsChange(root: "R", from: nil, to: [:], origin: .thisProcess) == nil)
    }
}
