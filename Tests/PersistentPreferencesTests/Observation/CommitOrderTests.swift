@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Each commit once, in the order of the commits, for every observer.
@Suite struct CommitOrderTests {
    private static let threads = 8
    private static let writes = Hazard.count(6, long: 40)

    private let folder = TemporaryFolder.fresh

    /// Files are combined with every watcher. Other places watch no folder.
    private static let watched: [(ObservedPlace, Watcher)] = ObservedPlace.allCases.flatMap { place in
        let watchers = [.binary, .xml, .json].contains(place) ? Watcher.allCases : [.system]
        return watchers.map { (place, $0) }
    }

    private final class CountPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var counter = 0
        override var allowedKeys: [String] { (0..<CommitOrderTests.threads).map { "own\($0)" } + ["shared"] }
    }

    /// The counter is the number of the commit. Each thread has its own key, and all threads write one key without a
    /// lock.
    @Test(.limited, arguments: watched)
    func eachObserverReceivesEachCommitInOrder(_ place: ObservedPlace, _ watcher: Watcher) async {
        let prefs = CountPrefs(key: "Root", store: place.store(in: folder, watcher))
        let commits = Self.threads * Self.writes
        let changes = Observer<PrefsChange> { tell in prefs.onChange { tell($0) } }, counts = prefs.$counter.observer()
        let shared = Observer<PrefsChange> { tell in
            prefs.onChange(of: "shared", on: DispatchQueue.global()) { tell($0) }
        }
        let sequence = prefs.changes(of: "counter"), updates = prefs.$counter.updates
        let heardBySequence = Task { await sequence.prefix(commits).reduce(into: []) { $0.append($1) } }
        let heardByUpdates = Task { await updates.prefix(commits + 1).reduce(into: []) { $0.append($1) } }

        await withCheckedContinuation { done in
            Thread.detachNewThread {
                inThreads(Self.threads) { thread in
                    for number in 1...Self.writes {
                        CountPrefs(key: "Root", store: prefs.ownStore).update {
                            $0["counter"] = ($0["counter"] as? Int ?? 0) + 1
                            $0["own\(thread)"] = number
                        }
                        prefs["shared"] = thread * 1_000 + number
                    }
                }
                done.resume()
            }
        }

        let numbers = Array(1...commits)
        #expect(counts.wait(for: commits) == numbers.map { [$0 - 1, $0] })
        let end = prefs["shared"] as? Int
        // The last commit is one of `shared`.
        let all = changes.wait {
            // Tests the cheaper condition first, because it is tested after each change.
            $0.last { $0.keys.contains("shared") }?.newValues["shared"] as? Int == end
                && $0.count { $0.keys.contains("counter") } == commits
        }
        #expect(all.compactMap { $0.newValues["counter"] as? Int } == numbers)
        #expect(all.allSatisfy { $0.origin == .thisProcess && $0.count == 1 })
        for thread in 0..<Self.threads {
            let own = all.compactMap { $0.newValues["own\(thread)"] as? Int }
            #expect(own == Array(1...Self.writes))
        }
        #expect(flaw(in: all) == nil)
        let last = all.reduce(into: [String: Any]()) { $0.merge($1.newValues) { $1 } }
        #expect(exactForm(last) == exactForm(prefs.values))
        shared.wait { $0.last?.newValues["shared"] as? Int == end }
        #expect(flaw(in: shared.all) == nil)
        #expect(await heardBySequence.value.compactMap { $0.newValues["counter"] as? Int } == numbers)
        #expect(await heardByUpdates.value == [0] + numbers)
    }

    @Test(arguments: ObservedPlace.allCases)
    func observersThatComeAndGoReceiveAGaplessChain(_ place: ObservedPlace) {
        let prefs = CountPrefs(key: "Root", store: place.store(in: folder))
        let chains = Heard<[PrefsChange]>()
        let isOver = Heard<Bool>()
        let watchers = DispatchGroup()
        for _ in 0..<3 {
            watchers.enter()
            Thread.detachNewThread {
                while isOver.all.isEmpty {
                    let chain = Observer<PrefsChange> { tell in prefs.onChange { tell($0) } }
                    chain.wait { $0.count >= 5 }
                    chain.cancel()
                    chains.append(chain.all)
                }
                watchers.leave()
            }
        }
        inThreads(Self.threads) { thread in
            for number in 1...Self.writes {
                prefs.update { $0["counter"] = ($0["counter"] as? Int ?? 0) + 1 }
                prefs["own\(thread)"] = number
            }
        }
        isOver.append(true)
        // Writes more for the observers that have not received enough.
        var number = 0
        while watchers.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
            number += 1
            prefs["shared"] = number
        }
        for chain in chains.all { #expect(flaw(in: chain) == nil) }
    }

    /// Two consecutive changes that do not fit, because the old value of one is not the new value of the other. nil if
    /// all fit.
    private func flaw(in changes: [PrefsChange]) -> String? {
        var state: [String: String] = [:]
        for (index, change) in changes.enumerated() {
            for key in change.keys {
                let old = change.oldValues[key].map(exactForm) ?? "-"
                if let known = state[key], known != old { return "\(index): \(key) was \(known) and not \(old)" }
                state[key] = change.newValues[key].map(exactForm) ?? "-"
            }
        }
        return nil
    }
}
