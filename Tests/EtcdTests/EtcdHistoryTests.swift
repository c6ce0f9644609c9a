import EngineSupport
import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// Four processes read, write and remove roots of a cluster of three nodes, each behind a proxy that loses, delays, doubles and cuts,
/// while nodes are killed, restarted, stopped and resumed. No acknowledged update is lost, none is applied twice, and the history of each
/// root is linearizable.
@Suite(.waits, .enabled(if: EtcdCluster.isWhole)) final class EtcdHistoryTests: FleetSuite {
    private static let processes = 4

    /// What is done to the cluster, one after another.
    private enum Event: CaseIterable {
        case killLeader, stopFollower, stopLeader, loseQuorum
    }

    @Test func historiesAreLinearizableWhateverFails() async throws {
        let rounds = Hazard.count("PREFS_FLEET_ROUNDS", default: Hazard.count(2, long: Event.allCases.count))
        let seed = Hazard.count("PREFS_SEED", default: 1)
        let cluster = try EtcdCluster(nodes: 3)
        let proxies = try cluster.nodes.enumerated().map {
            try LossyProxy(
                to: $1.clientPort, percent: Hazard.count("PREFS_FLEET_FAULTS", default: 4),
                seed: UInt64(seed * 10 + $0))
        }
        defer { for proxy in proxies { proxy.close() } }
        let hosts = proxies.map { "127.0.0.1:\($0.port)" }
        let children = try (0..<Self.processes).map { process in
            // Each begins with another node.
            let order = (hosts + hosts)[(process % 3)..<(process % 3 + 3)].joined(separator: ",")
            return try PipedChild(
                "EtcdProbe", ["history", "etcd://\(order)/\(prefix)", "\(seed)", "\(process)"], home: home,
                mergesErrors: true)
        }
        for child in children { #expect(try child.line() == "ready") }
        // Observes behind the same proxies.
        let observer = EtcdStore(
            endpoints: proxies.map(\.url), prefix: prefix, options: .patient(staleness: .seconds(2)))
        let last = Locked<Int?>(nil)
        let observation = try observer.observe(root: "counter") { change in
            last.withLock { $0 = change.newValues["all"] as? Int }
        }
        let begin = ContinuousClock.Instant.now
        for child in children { try child.tell("go") }
        try awaitProgress(of: children, lines: 2)
        for round in 0..<rounds {
            try cause(Event.allCases[(round + seed) % Event.allCases.count], cluster)
            try awaitProgress(of: children, lines: 4)
        }
        for proxy in proxies { proxy.behave() }
        for child in children { try child.tell("stop") }
        let outcome = try Outcome(children)

        // The end, read by a process that had no part in it.
        let store = cluster.store(prefix, .patient(reads: .current))
        let counter = try store.read(root: "counter") ?? [:]
        for (thread, count) in outcome.counted {
            #expect(counter[thread] as? Int ?? 0 == count, "PREFS_SEED=\(seed) \(thread)")
        }
        #expect(counter["all"] as? Int ?? 0 == outcome.counted.values.reduce(0, +), "PREFS_SEED=\(seed)")
        expectEventually(last.withLock { $0 }, is: counter["all"] as? Int)
        #expect(last.withLock { $0 } == counter["all"] as? Int, "PREFS_SEED=\(seed): the end was not observed")
        observation.cancel()
        let byKey = Dictionary(grouping: outcome.history(), by: \.key)
        #expect(byKey.keys.sorted() == ["a", "b"])
        let violations =
            byKey.values.compactMap(LinearizabilityChecker.violation)
            + LinearizabilityChecker.staleAbsences(
                outcome.missing, after: outcome.operations + outcome.uncertain)
        for violation in violations { Issue.record("PREFS_SEED=\(seed): \(violation)") }
        let faults = proxies.reduce(0) { $0 + $1.faults.values.reduce(0, +) }
        let lost = abs((counter["all"] as? Int ?? 0) - outcome.counted.values.reduce(0, +))
        let seconds = Int((ContinuousClock.Instant.now - begin) / .seconds(1))
        Hazard.report(
            """
            fleet: \(seconds) s, \(rounds) failures of 3 nodes, \(faults) faults of the network, \(outcome.operations.count) operations of \
            \(Self.processes) processes × 2 threads, \(outcome.failures) rejected, \(outcome.unknown) of unknown outcome, \
            \(outcome.counted.values.reduce(0, +)) increments, \(lost) lost or applied twice, \(violations.count) not linearizable
            """)
    }

    /// Waits until each process has done so many times ten operations.
    private func awaitProgress(of children: [PipedChild], lines: Int) throws {
        for child in children {
            for _ in 0..<lines {
                let line = try child.line()
                #expect(line == "progress")
            }
        }
    }

    private func cause(_ event: Event, _ cluster: EtcdCluster) throws {
        // In the middle of an election there is none.
        var found = try cluster.leader()
        for _ in 0..<50 where found == nil {
            poll(nil, 0, 100)
            found = try cluster.leader()
        }
        let leader = try #require(found)
        let followers = cluster.nodes.filter { $0 !== leader }
        switch event {
        case .killLeader:
            cluster.kill(leader)
            try cluster.waitUntilHealthy()
            poll(nil, 0, 300)
            try cluster.start(leader)
        case .stopFollower: pause([followers[0]], cluster)
        case .stopLeader: pause([leader], cluster)
        case .loseQuorum: pause(followers, cluster)
        }
        try cluster.waitUntilHealthy()
    }

    /// For a time after which the clients and the others have noticed it.
    private func pause(_ nodes: [EtcdCluster.Node], _ cluster: EtcdCluster) {
        for node in nodes { cluster.stop(node) }
        poll(nil, 0, Int32(Hazard.count("PREFS_FLEET_PAUSE", default: 1_200)))
        for node in nodes { cluster.resume(node) }
    }

    /// What the processes have done.
    private struct Outcome {
        var operations: [HistoryOperation] = []
        /// Reads that found no root.
        var missing: [HistoryOperation] = []
        /// Writes that may have been carried out.
        var uncertain: [HistoryOperation] = []
        var counted: [String: Int] = [:]
        var failures = 0
        var unknown = 0

        init(_ children: [PipedChild]) throws {
            for child in children {
                while case let line = try child.line(), line != "end" {
                    let words = line.split(separator: " ").map(String.init)
                    switch words[0] {
                    case "progress": break
                    case "counted": counted[words[1]] = Int(words[2])
                    case "failures":
                        failures += Int(words[2]) ?? 0
                        unknown += Int(words[3]) ?? 0
                    case "maybe": uncertain.append(try #require(HistoryOperation(String(line.dropFirst(6))), "\(line)"))
                    default:
                        let operation = try #require(HistoryOperation(line), "\(line)")
                        if operation.manner == "missing" {
                            missing.append(operation)
                        } else {
                            operations.append(operation)
                        }
                    }
                }
                #expect(try child.exitCode() == 0)
            }
        }

        /// The operations, with those of unknown outcome whose result somebody has seen.
        func history() -> [HistoryOperation] {
            var history = operations
            var rest = uncertain
            while true {
                let seen = Set(
                    history.compactMap { operation -> String? in
                        switch operation.access {
                        case .read(let value?), .exchange(let value?, _): "\(operation.key) \(value)"
                        default: nil
                        }
                    })
                let found = rest.filter { seen.contains("\($0.key) \($0.written ?? 0)") }
                if found.isEmpty { return history }
                history += found
                rest.removeAll { found.contains($0) }
            }
        }
    }
}
