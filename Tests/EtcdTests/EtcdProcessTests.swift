import Foundation
import PersistentPreferences
import PrefsEtcd
import Testing
import TestSupport

/// Several processes on one cluster.
@Suite(.enabled(if: EtcdCluster.isThere)) actor EtcdProcessTests: ThreadSuite {
    nonisolated let thread = SuiteThread()
    private let cluster: EtcdCluster
    private let prefix = EtcdCluster.prefix()
    private let home: TemporaryFolder

    init() throws {
        cluster = try EtcdCluster.shared.get()
        home = try TemporaryFolder()
    }

    private var url: String { "etcd://127.0.0.1:\(cluster.nodes[0].clientPort)/\(prefix)" }
    private var store: EtcdStore {
        EtcdStore(endpoints: cluster.urls, prefix: prefix, options: .patient(reads: .current))
    }

    @Test func fourProcessesIncrementExactly() throws {
        let updates = Hazard.count("PREFS_FLEET_UPDATES", default: 50)
        let children = try (0..<4).map { _ in try Child("EtcdProbe", ["increment", url, "\(updates)"], home: home) }
        for child in children { #expect(try child.wait().output == "ok\n") }
        #expect(try store.read(root: "A")?["count"] as? Int == 4 * updates)
        Hazard.report("fleet: 4 processes × \(updates) updates, exact")
    }

    /// ThreadSanitizer allows no new threads in the child of a process with threads, and the child's watch is one.
    @Test(.enabled(if: Hazard.canRun("fleet: fork", if: !Hazard.isSanitized, else: "a sanitizer is on")))
    func parentAndChildWorkAfterAFork() throws {
        let result = try Child("EtcdProbe", ["fork", url], home: home).wait()
        let child =
            "child: etcd \(prefix): cannot be watched in a forked process; changes made elsewhere are not reported"
        #expect(
            result.output == "\(child)\nparent 40 true 0\ninner rejected\nafter 42 ok\n", "\(result.errors)")
    }

    /// Machines whose clocks are years apart, as far as `faketime` can pretend it.
    @Test(
        .enabled(
            if: Hazard.canRun(
                "fleet: wrong clocks", if: faketime != nil && !Hazard.isSanitized,
                else: "faketime is missing, or a sanitizer is on")))
    func clocksThatAreWrong() throws {
        let faketime = try #require(Self.faketime)
        let probe = try Child.executable("EtcdProbe")
        let clocks = try ["+10y", "-10y", "+0"].map { offset in
            try Child(
                URL(filePath: faketime), ["-f", offset, probe.path, "increment", url, "50"],
                environment: ["FAKETIME_DONT_FAKE_MONOTONIC": "1", "HOME": home.path])
        }
        for clock in clocks { #expect(try clock.wait().output == "ok\n") }
        #expect(try store.read(root: "A")?["count"] as? Int == 150)
    }

    private static let faketime = Child.installed("faketime")

    @Test func aSocketOfTheProgramIsNotTakenForOneOfTheStore() throws {
        let result = try Child("EtcdProbe", ["descriptors", url], home: home).wait()
        #expect(result.output == "true  true\n", "\(result.errors)")
        #expect(try store.read(root: "A")?["count"] as? Int == 3)
    }

    @Test func aKilledHolderKeepsNobodyOutForLong() throws {
        let holder = try PipedChild("EtcdProbe", ["hold", url], home: home)
        #expect(try holder.line() == "holding")
        let hasty = EtcdStore(endpoints: cluster.urls, prefix: prefix, options: .init(deadline: shortWait(1)))
        #expect {
            try hasty.update(root: "A") { _ in Issue.record("run") }
        } throws: {
            guard case PrefsError.notStored(let failure) = $0 else { return false }
            return failure.reason.hasPrefix("timed out waiting for the lock of root A, held by ")
                && failure.reason.contains(" EtcdProbe (process ") && failure.reason.hasSuffix("; clients ahead: 1")
        }
        holder.kill()
        try store.update(root: "A") { $0 = ["count": ($0?["count"] as? Int ?? 0) + 1] }
        #expect(try store.read(root: "A")?["count"] as? Int == 1)
    }

    /// The lease of its ticket ends meanwhile, and its update comes too late.
    @Test func aStoppedHolderLosesTheLockAndStoresNothing() throws {
        let holder = try PipedChild("EtcdProbe", ["hold", url], home: home, mergesErrors: true)
        #expect(try holder.line() == "holding")
        holder.send(SIGSTOP)
        try store.update(root: "A") { $0 = ["count": ($0?["count"] as? Int ?? 0) + 1] }
        holder.send(SIGCONT)
        try holder.tell("go on")
        #expect(try holder.line().contains("the lock was lost"))
        #expect(try store.read(root: "A")?["count"] as? Int == 1)
    }

    /// The example program, on two machines' worth of processes.
    @Test func twoWorkersOfTheExampleCountTogether() throws {
        let workers = try (0..<2).map { _ in try Child("Fleet", [url, "20"], home: home) }
        let results = try workers.map { try $0.wait() }
        #expect(results.contains { $0.output == "done; the fleet has 40\n" }, "\(results)")
        #expect(try store.read(root: "FleetPrefs")?["jobs"] as? Int == 40)
    }
}
