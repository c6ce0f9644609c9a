// The sample of the article "Testing your preferences", verbatim; `DocumentationTests` compares them.

import PersistentPreferences
import PrefsStoreKit
import PrefsTesting
import Testing

private final class ReaderPrefs: Prefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 12

    static let shared = ReaderPrefs()
}

private func enlarge() {
    ReaderPrefs.shared.size += 2
}

@Suite(.inMemoryPrefs) struct ReaderPrefsTests {
    @Test(arguments: [12, 18, 70])
    func enlargingAddsTwo(_ size: Int) {
        ReaderPrefs.shared.size = size
        enlarge()
        #expect(ReaderPrefs.shared.size == size + 2)
    }

    @Test func tooLargeIsRejected() {
        let prefs = ReaderPrefs()
        prefs.size = 100
        // First, because the next access clears the error.
        #expect(prefs.lastError?.description == "size: must be in 8...72")
        #expect(prefs.size == 12)
    }

    @Test func whatAFormerVersionStoredIsRead() throws {
        let store = PrefsStore.memory()
        try store.update(root: "ReaderPrefs") { $0 = ["size": 18, "dropped": true] }
        PersistentPrefs.withStore(store) { enlarge() }
        #expect(ReaderPrefs(store: store).size == 20)
    }

    @Test func aChangeIsReported() async {
        var sizes = ReaderPrefs.shared.$size.updates.makeAsyncIterator()
        #expect(await sizes.next() == 12)
        ReaderPrefs.shared.size = 20
        #expect(await sizes.next() == 20)
    }
}
