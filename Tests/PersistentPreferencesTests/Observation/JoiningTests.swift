@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsJSON

/// Observers that come and go at the worst moments: in the middle of a commit, a reload or a report.
@Suite struct JoiningTests {
    private let folder = TemporaryFolder.fresh

    private final class NumberPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var number = 0
        @Pref var date: Date? = nil
    }

    /// At each call of a commit an observer begins. Its start value and the received changes give the final state. No
    /// change is received twice or has the origin `elsewhere`.
    @Test(arguments: [FileFormat].all, [false, true])
    func inTheMiddleOfACommit(_ format: FileFormat, fails: Bool) throws {
        let date = Date(timeIntervalSinceReferenceDate: 5.5)
        var joined = 0
        for call in stride(from: 1, to: .max, by: Hazard.count(2, long: 1)) {
            let system = RecordingSystemCalls()
            system.flushes = false
            let url = folder.file("\(format) \(fails) \(call).plist")
            let store = PropertyListFileStore(url: url, format: format, system: system)
            let prefs = NumberPrefs(key: "Root", store: store)
            prefs.number = 1
            let heard = Heard<String>()
            nonisolated(unsafe) var observation: PrefsObservation?
            nonisolated(unsafe) var calls = 0
            nonisolated(unsafe) let thread = Thread.current
            system.onCall = { [weak system] name throws(StorageFailure) in
                // Ignores calls of the feed, which do not belong to the commit.
                guard Thread.current === thread else { return }
                calls += 1
                if calls == call {
                    system?.onCall = nil
                    observation = prefs.onChange { heard.append($0.text) }
                }
            }
            if fails { system.fail("rename", with: EIO) }
            prefs.update { (prefs.number, prefs.date) = (2, date) }
            system.onCall = nil
            guard observation != nil else { break }
            joined += 1
            // An event without a change: the feed reads the file, and has nothing to report.
            utimes(url.path, nil)
            prefs.number = 3
            let (first, last) = (fails ? 1 : 2, heard.wait { $0.last?.contains("→ 3") == true })
            #expect(last.last == "Root number: \(first) → 3", "call \(call)")
            #expect(last.count <= 2, "call \(call)")
            let whole = exactForm(format == .xml ? Date(timeIntervalSinceReferenceDate: 5) : date)
            if last.count == 2 {
                #expect(last[0] == "Root date: - → \(whole), number: 1 → 2" && !fails, "call \(call)")
            }
            observation?.cancel()
        }
        #expect(joined > 10)
    }

    /// Runs a closure once, on the thread that has set it, right after the status of an open file was read.
    private final class AfterStatus: WatchedSystemCalls, @unchecked Sendable {
        private let action = Locked<(thread: Thread, run: () -> Void)?>(nil)

        func setAction(_ run: @escaping () -> Void) { action.withLock { $0 = (Thread.current, run) } }

        override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
            let status = try super.status(of: descriptor)
            let due = action.withLock { action in
                guard action?.thread === Thread.current else { return nil as (() -> Void)? }
                defer { action = nil }
                return action?.run
            }
            due?()
            return status
        }
    }

    /// After the file was read for a new observer and before the observer is registered, another program writes, and
    /// the feed reloads.
    @Test(arguments: Watcher.allCases)
    func aForeignWriteWhileAnObserverJoinsIsNotForgotten(_ watcher: Watcher) throws {
        let url = folder.file()
        let system = AfterStatus(watcher)
        let store = PropertyListFileStore(url: url, durability: .process, system: system)
        let sentinel = store.observedPrefs("Other")
        let prefs = NumberPrefs(key: "Root", store: store)
        sentinel["a"] = 1
        prefs.number = 1
        let looked = sentinel.observer()
        let subscriber = Noting()
        system.setAction {
            try? writePropertyList(["Root": ["number": 2], "Other": ["a": 2]], to: url)
            looked.wait(for: 1)
        }
        let subscription = try store.ownRoots.subscribe(to: "Root", keys: [], subscriber, from: nil)
        // The observer starts from the new state, or receives it.
        let start = subscription.start.members["number"]?.integer(as: Int.self)
        if start != 2 { subscriber.heard.wait(for: 1) }
        #expect(subscriber.heard.all.last ?? start == 2)
        subscription.end()
    }

    private final class Noting: EntrySubscriber {
        let heard = Heard<Int>()
        func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
            heard.append(change.after.members["number"]?.integer(as: Int.self) ?? 0)
            return nil
        }
    }

    /// A thread that releases a sequence, or a tracked instance, during the report of a commit waits for no lock.
    @Test(.timeLimit(.minutes(10))) func sequencesAreDroppedWhileOthersWrite() {
        let prefs = NumberPrefs(key: "Root", store: InMemoryStore())
        inThreads(4) { thread in
            for number in 0..<1_000 {
                if thread < 2 {
                    prefs.number = thread * 1_000 + number
                } else {
                    _ = prefs.changes()
                    _ = prefs.$number.updates.makeAsyncIterator()
                }
            }
        }
    }

    /// A waiting change keeps the root that it concerns.
    @Test func aChangeOfTheFormerRootSaysSo() {
        let prefs = InMemoryStore().observedPrefs("One")
        let stall = Stall()
        let heard = stall.observer(of: prefs)
        prefs["a"] = 1
        prefs["a"] = 2
        prefs.key = "Two"
        prefs["b"] = 1
        stall.gate.open()
        #expect(heard.wait(for: 4).map(\.text) == ["One a: - → 1", "One a: 1 → 2", "Two a: 2 → -", "Two b: - → 1"])
    }
}
