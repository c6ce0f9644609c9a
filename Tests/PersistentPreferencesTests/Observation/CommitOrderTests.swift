@testable import PrefsSupport
import AppleModels
import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Each commit once, in the order of the commits, for every observer.
@Suite struct CommitOrderTests {
    private static let threads = 8
    private static let writes = Hazard.count(6, long: 40)

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    enum Place: CaseIterable { case memory, binary, xml, json, simulated, simulatedFlat }

    /// Files are combined with every watcher. Other places watch no folder.
    private static let watched: [(Place, Watcher)] = Place.allCases.flatMap { place in
        let watchers = [.binary, .xml, .json].contains(place) ? Watcher.allCases : [.system]
        return watchers.map { (place, $0) }
    }

    private func store(_ place: Place, _ watcher: Watcher = .system) -> any PrefsStore {
        let system = WatchedSystemCalls(watcher)
        return switch place {
        case .memory: InMemoryStore()
        case .simulated: UserDefaultsStore(ModelDaemon(isAutomatic: true).process())
        case .simulatedFlat: UserDefaultsStore(ModelDaemon(isAutomatic: true).process(), layout: .flat)
        case .binary: PropertyListFileStore(url: folder.file(), durability: .process, system: system)
        case .xml:
            PropertyListFileStore(url: folder.file("test.xml"), format: .xml, durability: .process, system: system)
        case .json:
            PropertyListFileStore(url: folder.file("test.json"), format: .json, durability: .process, system: system)
        }
    }

    private final class CountPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var counter = 0
        override var keys: [String] { (0..<CommitOrderTests.threads).map { "own\($0)" } + ["shared"] }
    }

    /// The counter is the number of the commit. Each thread has its own key, and all threads write one key without a
    /// lock.
    @Test(.limited, arguments: watched)
    func eachObserverReceivesEachCommitInOrder(_ place: Place, _ watcher: Watcher) async {
        let prefs = CountPrefs(key: "Root", store: store(place, watcher))
        let commits = Self.threads * Self.writes
        let changes = Heard<PrefsChange>(), counts = Heard<[Int]>(), shared = Heard<PrefsChange>()
        let observations = [
            prefs.onChange { changes.append($0) }, prefs.$counter.onChange { counts.append([$0, $1]) },
            prefs.onChange(of: "shared", on: DispatchQueue.global()) { shared.append($0) },
        ]
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
        #expect(last(of: all).map(exactForm) == exactForm(prefs.values))
        shared.wait { $0.last?.newValues["shared"] as? Int == end }
        #expect(flaw(in: shared.all) == nil)
        #expect(await heardBySequence.value.compactMap { $0.newValues["counter"] as? Int } == numbers)
        #expect(await heardByUpdates.value == [0] + numbers)
        for observation in observations { observation.cancel() }
    }

    /// Observers that come and go while others write receive every change between their first and last.
    @Test(arguments: Place.allCases)
    func observersThatComeAndGoReceiveAGaplessChain(_ place: Place) {
        let prefs = CountPrefs(key: "Root", store: store(place))
        let chains = Heard<[PrefsChange]>()
        let isOver = Heard<Bool>()
        let watchers = DispatchGroup()
        for _ in 0..<3 {
            watchers.enter()
            Thread.detachNewThread {
                while isOver.all.isEmpty {
                    let chain = Heard<PrefsChange>()
                    let observation = prefs.onChange { chain.append($0) }
                    chain.wait { $0.count >= 5 }
                    observation.cancel()
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

    private func last(of changes: [PrefsChange]) -> [String: Any]? {
        changes.reduce(into: [String: Any]()) { $0.merge($1.newValues) { $1 } }
    }
}
