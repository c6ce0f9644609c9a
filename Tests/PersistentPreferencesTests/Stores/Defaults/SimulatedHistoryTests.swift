@testable import PrefsSupport
import AppleModels
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// The changes of other threads and processes through the model of `UserDefaults`: exact within a process, and between
/// processes later, key by key, in one order.
@Suite struct SimulatedHistoryTests {
    private final class HistoryPrefs: PersistentPrefs, @unchecked Sendable {
        override var allowedKeys: [String] { ["a", "b", "x", "y"] }
    }

    /// The operations of one thread. Not shared while it runs.
    private final class Recorder: @unchecked Sendable {
        private(set) var operations: [HistoryOperation] = []
        private let prefs: HistoryPrefs
        private let thread: Int
        private var generator: SeededGenerator

        init(_ store: PrefsStore, thread: Int, seed: Int) {
            prefs = HistoryPrefs(key: "Root", store: store)
            self.thread = thread
            generator = SeededGenerator(seed: UInt64(seed * 100 + thread))
        }

        func run(_ calls: Int) {
            for call in 0..<calls {
                let value = (thread + 1) * 1_000_000 + call
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: access(["a"]) { [.read(prefs["a"] as? Int)] }
                case 1:
                    access(["x", "y"]) {
                        let values = prefs.values
                        return [.read(values["x"] as? Int), .read(values["y"] as? Int)]
                    }
                case 2:
                    access(["a"]) {
                        prefs["a"] = value
                        return [.write(value)]
                    }
                case 3:
                    access(["b"]) {
                        var old: Int?
                        prefs.update {
                            old = $0["b"] as? Int
                            $0["b"] = value
                        }
                        return [.exchange(old, for: value)]
                    }
                case 4: access(["b"]) { [.read(HistoryPrefs(key: "Root", store: prefs.ownStore)["b"] as? Int)] }
                default:
                    access(["x", "y"]) {
                        prefs.update { ($0["x"], $0["y"]) = (value, value) }
                        return [.write(value), .write(value)]
                    }
                }
            }
        }

        private func access(_ keys: [String], _ body: () -> [HistoryOperation.Access]) {
            let begin = Self.now()
            let accesses = body()
            let (end, call) = (Self.now(), operations.count)
            for (key, access) in zip(keys, accesses) {
                operations.append(
                    HistoryOperation(key, access, from: begin, to: end, thread: "\(thread)", call: call))
            }
        }

        private static func now() -> Int { Int(DispatchTime.now().uptimeNanoseconds) }
    }

    /// Another process changes its own entry at the same time, and the daemon delivers at random times.
    @Test(arguments: [DomainLayout.roots, .flat])
    func historiesOfOneProcessAreLinearizable(_ layout: DomainLayout) {
        for seed in 1...Hazard.count("PREFS_HISTORIES", default: 4) {
            let daemon = ModelDaemon(isAutomatic: true)
            let store = PrefsStore.userDefaults(daemon.process(), layout: layout)
            let other = daemon.process()
            let recorders = (0..<4).map { Recorder(store, thread: $0, seed: seed) }
            inThreads(5) { thread in
                if thread < 4 {
                    recorders[thread].run(150)
                } else {
                    for number in 1...150 { other.set(number, forKey: "other") }
                }
            }
            let history = Dictionary(grouping: recorders.flatMap(\.operations), by: \.key)
            #expect(history.keys.sorted() == ["a", "b", "x", "y"])
            for operations in history.values {
                if let violation = LinearizabilityChecker.violation(in: operations) {
                    Issue.record("PREFS_SEED=\(seed), \(layout): \(violation)")
                }
            }
            // The entries are written together, and read together.
            if let torn = LinearizabilityChecker.tornPair("x", "y", in: recorders.flatMap(\.operations)) {
                Issue.record("PREFS_SEED=\(seed), \(layout): \(torn)")
            }
            daemon.settle()
            #expect(other.entries["other"] as? Int == 150)
        }
    }

    /// Three processes write their own keys, and one common key. No own key is lost, every process sees the changes of
    /// a key in the order of the daemon, and all agree at the end.
    @Test func flatKeysOfThreeProcessesConverge() {
        let daemon = ModelDaemon(isAutomatic: true)
        let processes = (0..<3).map { _ in daemon.process() }
        let prefs = processes.map { AnyPrefs(["0", "1", "2", "shared"], store: .userDefaults($0, layout: .flat)) }
        let wentBack = Heard<String>()
        inThreads(6) { number in
            let mine = prefs[number % 3]
            if number < 3 {
                for value in 1...200 {
                    mine["\(number)"] = value
                    mine["shared"] = number * 1_000 + value
                }
            } else {
                var last = 0
                let key = "\((number + 1) % 3)"
                for _ in 0..<2_000 {
                    let value = mine[key] as? Int ?? 0
                    if value < last { wentBack.append("\(key): \(value) after \(last)") }
                    last = value
                }
            }
        }
        daemon.settle()
        #expect(wentBack.all == [])
        let ends = prefs.map { $0.values as? [String: Int] ?? [:] }
        #expect(ends[0] == ends[1] && ends[1] == ends[2])
        for number in 0..<3 { #expect(ends[0]["\(number)"] == 200) }
        #expect(ends[0]["shared"].map { $0 % 1_000 } == 200)
    }
}
