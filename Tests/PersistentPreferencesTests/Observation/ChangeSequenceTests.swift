@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Changes and values as asynchronous sequences.
@Suite(.limited) struct ChangeSequenceTests {
    private let store = PrefsStore.memory()

    private func prefs() -> SizePrefs { SizePrefs(key: "Root", store: store) }

    @Test func changesAreThoseSinceItWasMade() async {
        let prefs = prefs()
        prefs.size = 1
        let all = prefs.changes(), some = prefs.changes(of: "name")
        prefs.size = 2
        await prefs.update { (prefs.size, prefs.name) = (3, "x") }
        var iterator = all.makeAsyncIterator(), someIterator = some.makeAsyncIterator()
        #expect(await iterator.next()?.text == "Root size: 1 → 2")
        #expect(await iterator.next()?.text == "Root name: - → 'x', size: 2 → 3")
        #expect(await someIterator.next()?.text == "Root name: - → 'x'")
        // Each further iterator begins again.
        var second = all.makeAsyncIterator()
        prefs.size = 4
        #expect(await second.next()?.text == "Root size: 3 → 4")
        #expect(await iterator.next()?.text == "Root size: 3 → 4")
    }

    /// Code for macOS 14 and iOS 17 may call only `next()`, because the default of the standard library for the other
    /// form is newer.
    @Test func anIteratorHasBothFormsOfNext() async {
        let prefs = prefs()
        var changes = prefs.changes().makeAsyncIterator(), updates = prefs.$size.updates.makeAsyncIterator()
        prefs.size = 1
        prefs.size = 2
        #expect(await changes.next()?.text == "Root size: - → 1")
        #expect(await changes.next(isolation: nil)?.text == "Root size: 1 → 2")
        #expect(await updates.next() == 12)
        #expect(await updates.next(isolation: nil) == 1)
        #expect(await updates.next() == 2)
    }

    /// An iterator that shared the elements of another would get the older one, or wait.
    @Test func eachFurtherIteratorStartsAnew() async throws {
        let prefs = prefs()
        let updates = prefs.$size.updates
        var first = updates.makeAsyncIterator()
        prefs.size = 1
        var second = updates.makeAsyncIterator()
        let begin = await second.next()
        try #require(begin == 1)
        #expect(await first.next() == 12)
        #expect(await first.next() == 1)
    }

    @Test func updatesBeginWithTheValueOfNow() async {
        let prefs = prefs()
        let updates = prefs.$size.updates
        prefs.size = 1
        var iterator = updates.makeAsyncIterator()
        #expect(await iterator.next() == 12)
        #expect(await iterator.next() == 1)
        // An equal value is not a change. A change of another property is not reported.
        prefs.name = "x"
        await prefs.update { $0["size"] = 1.0 }
        await prefs.$size.reset()
        #expect(await iterator.next() == 12)
        var second = updates.makeAsyncIterator()
        #expect(await second.next() == 12)
        prefs.size = 2
        #expect(await second.next() == 2)
        #expect(await iterator.next() == 2)
        var names = prefs.$name.updates.makeAsyncIterator()
        #expect(await names.next() == "x")
        prefs.name = nil
        #expect(await names.next() == .some(nil))
    }

    @Test func cancellingTheTaskEndsIt() async {
        let prefs = prefs()
        let (changes, updates) = (prefs.changes(), prefs.$size.updates)
        let heard = Heard<Int>()
        // With a high priority, it does not queue behind all other tests.
        let task = Task(priority: .high) {
            var values: [Int] = []
            for await value in updates {
                values.append(value)
                heard.append(value)
            }
            for await _ in changes { values.append(-1) }
            return values
        }
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                heard.wait(for: 1)
                done.resume()
            }
        }
        task.cancel()
        #expect(await task.value == [12])
        #expect(!store.isFollowed)
        // A task that was cancelled before it began receives nothing.
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await prefs.changes().reduce(into: 0) { sum, _ in sum += 1 }
        }
        late.cancel()
        prefs.size = 1
        #expect(await late.value == 0)
        #expect(!store.isFollowed)
    }

    @Test func aCancelledTaskGetsNoFirstValue() async {
        let updates = prefs().$size.updates
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = updates.makeAsyncIterator()
            return await iterator.next()
        }
        #expect(await task.value == nil)
    }

    @Test func whatIsDroppedIsEnded() async {
        let prefs = prefs()
        weak var captured: SizePrefs?
        do {
            let other = self.prefs()
            captured = other
            var changes: PrefUpdates<PrefsChange>? = other.changes()
            var iterator = changes?.makeAsyncIterator()
            prefs.size = 1
            #expect(await iterator?.next()?.text == "Root size: - → 1")
            #expect(store.isFollowed)
            changes = nil
            #expect(store.isFollowed)
            iterator = nil
            #expect(!store.isFollowed)
            _ = other.$size.updates
            #expect(!store.isFollowed)
            for await _ in other.$size.updates { break }
            #expect(!store.isFollowed)
        }
        #expect(captured == nil)
    }

    @Test func itDoesNotEndWithItsInstance() async {
        let changes = prefs().changes()
        prefs().size = 1
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.text == "Root size: - → 1")
    }

    @Test func whatIsRejectedIsEmpty() async {
        let prefs = prefs()
        #expect(await prefs.changes(of: "unknown").reduce(into: 0) { sum, _ in sum += 1 } == 0)
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["unknown"]))
        let bad = SizePrefs(key: "", store: store)
        #expect(await bad.changes().reduce(into: 0) { sum, _ in sum += 1 } == 0)
        #expect(await bad.$size.updates.reduce(into: 0) { sum, _ in sum += 1 } == 0)
    }
}
