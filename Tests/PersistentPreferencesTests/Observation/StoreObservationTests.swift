@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences

/// `observe` of this package's stores and of stores of other modules.
@Suite struct StoreObservationTests {
    private let folder = TemporaryFolder.fresh

    @Test(arguments: ObservedPlace.kinds)
    func aStoreReportsTheChangesOfARoot(_ place: ObservedPlace) throws {
        let store = place.store(in: folder)
        let heard = try Observer<String> { tell in try store.observe(root: "Root") { tell($0.text) } }
        try store.update(root: "Root") { $0 = ["a": 1, "b": "x"] }
        try store.update(root: "Root") { $0?["a"] = 1 }
        try store.update(root: "Other") { $0 = ["a": 1] }
        try store.update(root: "Root") { $0?["b"] = nil }
        try store.update(root: "Root") { $0 = nil }
        try store.update(root: "Root") { $0 = ["end": 1] }
        #expect(
            heard.wait { $0.last?.contains("end") == true }
                == ["Root a: - → 1, b: - → 'x'", "Root b: 'x' → -", "Root a: 1 → -", "Root end: - → 1"])
        heard.cancel()
        try store.update(root: "Root") { $0 = nil }
        let barrier = try Observer<Bool> { tell in try store.observe(root: "Root") { _ in tell(true) } }
        try store.update(root: "Root") { $0 = ["end": 2] }
        barrier.wait(for: 1)
        #expect(heard.all.count == 4)
    }

    @Test(arguments: ObservedPlace.kinds, ["", "a\0b", "\u{FEFF}a", String(repeating: "x", count: 1_025)])
    func badNamesAreRejected(_ place: ObservedPlace, _ name: String) {
        let store = place.store(in: folder)
        #expect(throws: PrefsError.self) { try store.observe(root: name) { _ in } }
    }

    @Test func aBadSuiteIsRejected() {
        #expect(throws: PrefsError.self) { try UserDefaultsStore(suiteName: "a/b").observe(root: "Root") { _ in } }
    }

    private final class Telling: PrefsStore, @unchecked Sendable {
        let inner: any PrefsStore
        init(_ inner: any PrefsStore) { self.inner = inner }
        func read(root: String) throws -> [String: Any]? { try inner.read(root: root) }
        func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
            try inner.update(root: root, body)
        }
        func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
            try inner.observe(root: root, action)
        }
    }

    /// Instances work with a store that reports no changes.
    @Test func aStoreWithoutObserveIsSilent() {
        let inner = InMemoryStore()
        let prefs = ForeignStore(inner).observedPrefs()
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
        let prefs = Telling(inner).observedPrefs()
        prefs["c"] = 1
        let listener = Listener(prefs)
        inner.observedPrefs().update { ($0["a"], $0["b"]) = (1, 2) }
        prefs["a"] = nil
        prefs.clear()
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
