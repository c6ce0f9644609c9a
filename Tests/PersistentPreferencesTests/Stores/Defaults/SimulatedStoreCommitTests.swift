@testable import PrefsSupport
import AppleModels
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Reads, writes and reported changes during a commit of the simulated store.
@Suite struct SimulatedStoreCommitTests {
    private let daemon = ModelDaemon()

    /// A commit sets one entry after another. A read between two entries sees the state before the commit, and so does
    /// a read that has begun earlier.
    @Test(arguments: [DomainLayout.roots, .flat])
    func noReadSeesHalfOfACommit(_ layout: DomainLayout) {
        let process = daemon.process()
        let mine = SimulatedPrefs(process, layout)
        mine.update { ($0["volume"], $0["name"], $0["recent"]) = (1.0, "one", [1]) }
        let seen = Heard<String>()
        let other = SimulatedPrefs(process, layout)
        // Nothing is cached.
        process.set(nil, forKey: "any")
        nonisolated(unsafe) var hasBegun = false
        process.didRead = { _ in
            guard !hasBegun else { return }
            hasBegun = true
            // Begins after the other thread has read the system and before its read returns.
            mine.update { ($0["volume"], $0["name"], $0["recent"]) = (2.0, "two", [2]) }
        }
        process.willSet = { _ in
            inThreads(1) { _ in
                let values = other.values
                seen.append(
                    "\(values["volume"] ?? "-") \(values["name"] ?? "-") \(other.volume) \(other.name) \(other.recent)")
            }
        }
        inThreads(1) { _ in _ = other.volume }
        process.didRead = nil
        let all = Set(seen.all)
        #expect(all == ["1.0 one 1.0 one [1]"])
        #expect(seen.all.count == (layout == .flat ? 3 : 1))
        #expect(other.volume == 2 && other.name == "two" && other.recent == [2])
    }

    /// Another process has changed entries since the update began. A read during the commit does not return older
    /// values.
    @Test func aReadDuringACommitDoesNotGoBack() {
        let (app, other) = (daemon.process(), daemon.process())
        let (mine, second) = (SimulatedPrefs(app, .flat), SimulatedPrefs(app, .flat))
        mine.update { ($0["volume"], $0["name"], $0["recent"]) = (1.0, "one", [1]) }
        let seen = Heard<String>()
        mine.update {
            other.set(5.0, forKey: "volume")
            other.set("five", forKey: "name")
            daemon.deliver()
            app.willSet = { _ in
                inThreads(1) { _ in
                    seen.append("\(second.volume) \(second.name) \(second.recent) \(second.values["name"] ?? "-")")
                }
            }
            ($0["name"], $0["recent"]) = ("two", [2])
        }
        #expect(seen.all == Array(repeating: "5.0 five [1] five", count: 2))
        #expect(second.volume == 5 && second.name == "two" && second.recent == [2])
    }

    /// Other code is notified of each entry in the middle of a commit. It reads the new state, and a write there does
    /// not wait for itself.
    @Test(arguments: [DomainLayout.roots, .flat])
    func codeNotifiedOfACommitReadsTheNewState(_ layout: DomainLayout) {
        let process = daemon.process()
        let mine = SimulatedPrefs(process, layout)
        mine.update { ($0["volume"], $0["name"]) = (1.0, "one") }
        nonisolated(unsafe) var seen: [String] = []
        process.observeOwnChanges {
            let other = SimulatedPrefs(process, layout)
            seen.append("\(other.volume) \(other.name) \(other.values.count)")
            other.recent = [1]
            seen.append(other.lastError.map { "\($0)" } ?? "stored")
        }
        mine.update { ($0["volume"], $0["name"]) = (2.0, "two") }
        let rejected =
            "another write is under way on this thread: write after the notification of UserDefaults; "
            + "the stored state is unchanged"
        #expect(Set(seen) == ["2.0 two 2", rejected])
        #expect(mine.volume == 2 && mine.recent == [])
        mine.recent = [2]
        #expect(mine.recent == [2])
    }

    /// A change of an entry that cannot be observed sets the mark, too, of which code is notified before the commit ends.
    @Test func codeNotifiedOfTheMarkIsInsideOfTheCommit() {
        let process = daemon.process()
        let mine = SimulatedPrefs(process, .flat)
        mine.volume = 1
        nonisolated(unsafe) var seen: [String] = []
        process.observeOwnChanges {
            seen.append("\(mine.volume)")
            mine.recent = [1]
            seen.append(mine.lastError.map { "\($0)" } ?? "stored")
        }
        mine.update { ($0["screen.width"], $0["volume"]) = (300, 2.0) }
        let rejected =
            "another write is under way on this thread: write after the notification of UserDefaults; "
            + "the stored state is unchanged"
        #expect(Set(seen) == ["2.0", rejected] && seen.count == 6, "of two entries and the mark: \(seen)")
        #expect(mine.volume == 2 && mine.recent == [])
    }

    /// Code that is notified of a commit writes another domain, and is notified of that, too, while the first domain is
    /// still being written.
    @Test func aCommitOfAnotherDomainInsideIsNotTheEndOfTheOuter() {
        let (process, second) = (daemon.process(), ModelDaemon().process())
        let (mine, theirs) = (SimulatedPrefs(process, .flat), SimulatedPrefs(second, .flat))
        nonisolated(unsafe) var outcomes: [Bool] = []
        @Sendable func write() { outcomes.append(mine.$width.set(outcomes.count) == nil) }
        second.willSet = { _ in write() }
        process.observeOwnChanges {
            guard outcomes.isEmpty else { return }
            theirs.volume = 9
            write()
        }
        mine.volume = 2
        #expect(outcomes == [false, false])
        #expect(mine.volume == 2 && theirs.volume == 9 && mine.width == 100)
    }

    /// Another process changes an entry during an update. No observer receives a change back.
    @Test func aChangeDuringAnUpdateIsReportedOnce() {
        let (app, other) = (daemon.process(), daemon.process())
        let mine = AnyPrefs(observedNames, store: .userDefaults(app, layout: .flat))
        mine["a"] = 1
        let heard = mine.observer(of: "a", "b")
        mine.update {
            other.set(5, forKey: "a")
            daemon.deliver()
            heard.wait(for: 1)
            $0["b"] = 1
        }
        mine["b"] = 2
        #expect(heard.wait(for: 3) == ["AnyPrefs a: 1 → 5 elsewhere", "AnyPrefs b: - → 1", "AnyPrefs b: 1 → 2"])
        #expect(mine["a"] as? Int == 5)
    }
}
