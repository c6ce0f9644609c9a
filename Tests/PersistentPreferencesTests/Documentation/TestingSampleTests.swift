// The sample of the article "Testing your preferences", verbatim; `DocumentationTests` compares them.

import PersistentPreferences
import Testing

private final class ReaderPrefs: Prefs, @unchecked Sendable {
    @Pref(in: 8...72) var size = 12
}

private func enlarge() {
    ReaderPrefs().size += 2
}

@Suite struct ReaderPrefsTests {
    @Test func enlargingAddsTwo() {
        PersistentPrefs.withStore(InMemoryStore()) {
            enlarge()
            #expect(ReaderPrefs().size == 14)
        }
    }

    @Test func tooLargeIsRejected() {
        let prefs = ReaderPrefs(store: InMemoryStore())
        prefs.size = 100
        #expect(prefs.lastError?.description == "size: must be in 8...72")  // first: the next access clears it
        #expect(prefs.size == 12)
    }

    @Test func whatAFormerVersionStoredIsRead() throws {
        let store = InMemoryStore()
        try store.update(root: "ReaderPrefs") { $0 = ["size": 18, "dropped": true] }
        #expect(ReaderPrefs(store: store).size == 18)
    }

    @Test func aChangeIsReported() async {
        let prefs = ReaderPrefs(store: InMemoryStore())
        var sizes = prefs.$size.updates.makeAsyncIterator()
        #expect(await sizes.next() == 12)
        prefs.size = 20
        #expect(await sizes.next() == 20)
    }
}
