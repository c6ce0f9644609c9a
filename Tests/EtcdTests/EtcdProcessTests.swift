import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import Testing
import TestSupport

/// Several processes on one cluster.
@Suite(.waits, .enabled(if: EtcdCluster.isWhole)) final class EtcdProcessTests: FleetSuite {
    private var store: EtcdStore { cluster.store(prefix, .patient(reads: .current)) }

    /// As on machines whose clocks are years apart, as far as `faketime` can pretend it.
    @Test func fourProcessesIncrementExactly() throws {
        let updates = Hazard.count("PREFS_FLEET_UPDATES", default: 50)
        let faketime = Hazard.isSanitized ? nil : Child.installed("faketime")
        _ = Hazard.canRun(
            "fleet: wrong clocks", if: faketime != nil, else: "faketime is missing, or a sanitizer is on")
        let probe = try Child.executable("EtcdProbe").path
        let children = try ["+10y", "-10y", "+0", "+0"].map { offset in
            let words = (faketime.map { [$0, "-f", offset] } ?? []) + [probe, "increment", url, "\(updates)"]
            return try Child(
                URL(filePath: words[0]), Array(words.dropFirst()),
                environment: ["FAKETIME_DONT_FAKE_MONOTONIC": "1", "HOME": home.path])
        }
        for child in children { #expect(try child.wait().output == "ok\n") }
        #expect(try store.count() == 4 * updates)
        Hazard.report("fleet: 4 processes × \(updates) updates, exact")
    }

    /// ThreadSanitizer allows no new threads in the child of a process with threads, and the child's watch is one.
    @Test(.enabled(if: Hazard.canRunUnsanitized("fleet: fork")))
    func parentAndChildWorkAfterAFork() throws {
        let result = try probe("fork", url)
        let child =
            "child: etcd \(prefix): cannot be watched in a forked process; changes made elsewhere are not reported"
        #expect(
            result.output == "\(child)\nparent 40 true 0\ninner rejected\nafter 42 ok\n", "\(result.errors)")
    }

    @Test func aSocketOfTheProgramIsNotTakenForOneOfTheStore() throws {
        let result = try probe("descriptors", url)
        #expect(result.output == "true  true\n", "\(result.errors)")
        #expect(try store.count() == 3)
    }

    /// What a program prints without standard streams must not go to a server.
    @Test func noSocketIsAStandardStream() throws {
        #expect(try probe("streams", url).errors == "sockets: []\n")
    }

    @Test func aKilledHolderKeepsNobodyOutForLong() throws {
        let holder = try PipedChild("EtcdProbe", ["hold", url], home: home)
        #expect(try holder.line() == "holding")
        let hasty = cluster.store(prefix, .init(deadline: shortWait(1)))
        let reason = error { try hasty.update(root: "A") { _ in Issue.record("run") } }.notStored?.reason ?? ""
        #expect(reason.hasPrefix("timed out waiting for the lock of root A, held by "))
        #expect(reason.contains(" EtcdProbe (process ") && reason.hasSuffix("; clients ahead: 1"))
        holder.kill()
        try increment(store)
        #expect(try store.count() == 1)
    }

    /// The lease of its ticket ends meanwhile, and its update comes too late.
    @Test func aStoppedHolderLosesTheLockAndStoresNothing() throws {
        let holder = try PipedChild("EtcdProbe", ["hold", url], home: home, mergesErrors: true)
        #expect(try holder.line() == "holding")
        holder.send(SIGSTOP)
        try increment(store)
        holder.send(SIGCONT)
        try holder.tell("go on")
        #expect(try holder.line().contains("the lock was lost"))
        #expect(try store.count() == 1)
    }

    /// The example program, on two machines' worth of processes.
    @Test func twoWorkersOfTheExampleCountTogether() throws {
        let workers = try (0..<2).map { _ in try Child("Fleet", [url, "20"], home: home) }
        let results = try workers.map { try $0.wait() }
        #expect(results.contains { $0.output == "done; the fleet has 40\n" }, "\(results)")
        #expect(try store.read(root: "FleetPrefs")?["jobs"] as? Int == 40)
    }
}
