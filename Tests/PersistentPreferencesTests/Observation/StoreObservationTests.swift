@testable import PrefsSupport
import AppleModels
import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// `observe` of this package's stores and of stores of other modules.
@Suite struct StoreObservationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    enum Place: CaseIterable { case memory, file, simulated }

    private func store(_ place: Place) -> any PrefsStore {
        switch place {
        case .memory: InMemoryStore()
        case .simulated: UserDefaultsStore(ModelDaemon(isAutomatic: true).process())
        case .file: PropertyListFileStore(url: folder.file(), durability: .process)
        }
    }

    @Test(arguments: Place.allCases)
    func aStoreReportsTheChangesOfARoot(_ place: Place) throws {
        let store = store(place)
        let heard = Heard<String>()
        let observation = try store.observe(root: "Root") { heard.append($0.text) }
        try store.update(root: "Root") { $0 = ["a": 1, "b": "x"] }
        try store.update(root: "Root") { $0?["a"] = 1 }
        try store.update(root: "Other") { $0 = ["a": 1] }
        try store.update(root: "Root") { $0?["b"] = nil }
        try store.update(root: "Root") { $0 = nil }
        try store.update(root: "Root") { $0 = ["end": 1] }
        #expect(
            heard.wait { $0.last?.contains("end") == true }
                == ["Root a: - → 1, b: - → 'x'", "Root b: 'x' → -", "Root a: 1 → -", "Root end: - → 1"])
        observation.cancel()
        try store.update(root: "Root") { $0 = nil }
        let barrier = Heard<Bool>()
        let second = try store.observe(root: "Root") { _ in barrier.append(true) }
        try store.update(root: "Root") { $0 = ["end": 2] }
        barrier.wait(for: 1)
        #expect(heard.all.count == 4)
        second.cancel()
    }

    @Test(arguments: Place.allCases, ["", "a\0b", "\u{FEFF}a", String(repeating: "x", count: 1_025)])
    func badNamesAreRejected(_ place: Place, _ name: String) {
        let store = store(place)
        #expect(throws: PrefsError.self) { try store.observe(root: name) { _ in } }
    }

    @Test func aBadSuiteIsRejected() {
        #expect(throws: PrefsError.self) { try UserDefaultsStore(suiteName: "a/b").observe(root: "Root") { _ in } }
    }

    /// Forwards all calls, `observe` only on request.
    private class Forwarding: PrefsStore, @unchecked Sendable {
        let inner: any PrefsStore
        init(_ inner: any PrefsStore) { self.inner = inner }
        func read(root: String) throws -> [String: Any]? { try inner.read(root: root) }
        func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
            try inner.update(root: root, body)
        }
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
        let prefs = AnyPrefs(observedNames, key: "Root", store: Forwarding(inner))
        let heard = Heard<String>()
        let observation = prefs.onChange { heard.append($0.text) }
        #expect(prefs.lastError == nil)
        prefs["a"] = 1
        #expect(prefs["a"] as? Int == 1)
        #expect(Listener(AnyPrefs(observedNames, key: "Root", store: inner)).take() == [])
        #expect(heard.all == [])
        observation.cancel()
    }

    @Test(arguments: Place.allCases)
    func aForwardingStoreReportsChanges(_ place: Place) {
        let inner = store(place)
        let prefs = AnyPrefs(observedNames, key: "Root", store: Telling(inner))
        prefs["c"] = 1
        let listener = Listener(prefs)
        AnyPrefs(observedNames, key: "Root", store: inner).update { ($0["a"], $0["b"]) = (1, 2) }
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
