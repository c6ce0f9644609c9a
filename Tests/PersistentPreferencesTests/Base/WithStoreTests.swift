@testable import EngineSupport
@testable import PrefsSupport
import PersistentPreferences
import Testing

/// A store for code that creates `AppPrefs()` without a store.
@Suite(.limited) struct WithStoreTests {
    final class AppPrefs: PersistentPrefs, @unchecked Sendable {
        static let ownStore = InMemoryStore()
        override class var store: any PrefsStore { ownStore }
        override var keys: [String] { ["a"] }
    }

    @Test func outranksTheStoreOfTheClassButNotThatOfAnInstance() {
        let (store, given) = (InMemoryStore(), InMemoryStore())
        let prefs = AppPrefs.withStore(store) {
            AppPrefs(store: given)["a"] = 2
            return AppPrefs()
        }
        // An instance keeps the store that it was created with.
        prefs["a"] = 1
        #expect(AppPrefs(store: store).ints == ["a": 1])
        #expect(AppPrefs(store: given).ints == ["a": 2])
        #expect(AppPrefs(key: "AppPrefs").ints.isEmpty)
    }

    @Test func reachesAsynchronousCodeAndItsTasks() async {
        let store = InMemoryStore()
        let count = await PersistentPrefs.withStore(store) {
            await Task.yield()
            await Task { AppPrefs()["a"] = 1 }.value
            return AppPrefs().count
        }
        #expect(count == 1)
        #expect(AppPrefs(store: store).ints == ["a": 1])
    }

    @Test func passesTheResultAndTheError() {
        #expect(PersistentPrefs.withStore(InMemoryStore()) { 5 } == 5)
        #expect(throws: Stop.self) { try PersistentPrefs.withStore(InMemoryStore()) { throw Stop() } }
    }
}
