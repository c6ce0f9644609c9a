import Foundation
import PrefsJSON
import PrefsStoreKit
import Testing
import TestSupport
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

/// Counts how often the rules were asked.
private class PoolPrefs: RecordingPrefs, @unchecked Sendable {
    @Pref var low = 1
    @Pref var high = 9
    @Pref var name = ""

    let asked = Locked(0)

    override class var rules: [PrefsRule] {
        [
            PrefsRule { (prefs: PoolPrefs) in
                prefs.asked.withLock { $0 += 1 }
                return prefs.low > prefs.high ? "low must be at most high" : nil
            },
            PrefsRule { (prefs: PoolPrefs) in
                prefs.name.count > prefs.high ? "name must have at most high characters" : nil
            },
        ]
    }

    static let violated = PrefsError.ruleViolated(["low must be at most high"])
}

/// A subclass has the rules of its base, and one of its own.
private final class NamedPoolPrefs: PoolPrefs, @unchecked Sendable {
    @Pref var title = "a"

    override class var rules: [PrefsRule] {
        super.rules + [PrefsRule { (prefs: NamedPoolPrefs) in prefs.title == prefs.name ? "" : nil }]
    }
}

/// A rule that reads other instances, and one that writes.
private final class CuriousPrefs: RecordingPrefs, @unchecked Sendable {
    @Pref var size = 1
    @Pref var other = 0

    let pool: PoolPrefs
    let elsewhere: PoolPrefs

    init(_ pool: PoolPrefs, _ elsewhere: PoolPrefs, store: PrefsStore) {
        (self.pool, self.elsewhere) = (pool, elsewhere)
        super.init(key: nil, values: nil, store: store)
    }

    override class var rules: [PrefsRule] {
        [
            PrefsRule { (prefs: CuriousPrefs) in
                let limit = prefs.pool.high + prefs.elsewhere.high
                return prefs.size > limit ? "size must be at most \(limit)" : nil
            },
            PrefsRule { (prefs: CuriousPrefs) in
                prefs.other = 5
                prefs.pool.low = 0
                prefs.elsewhere.update { prefs.elsewhere.low = 0 }
                return nil
            },
        ]
    }
}

/// Reads the root of a former name, and migrates it.
private final class MovedPoolPrefs: RecordingPrefs, @unchecked Sendable {
    @Pref(.formerly("lower")) var low = 1
    @Pref var high = 9
    @Pref var name = ""

    override class var formerRootKeys: [String] { ["OldPool"] }
    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 1) { $0["high"] = ($0["high"] as? Int).map { $0 * 10 } }]
    }
    override class var rules: [PrefsRule] {
        [PrefsRule { (prefs: MovedPoolPrefs) in prefs.low > prefs.high ? "low must be at most high" : nil }]
    }
}

private final class MistakenPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var size = 1

    override class var rules: [PrefsRule] { [PrefsRule { (prefs: PoolPrefs) in nil }] }
}

/// Rules over several values, in a property list of its own for each test.
@Suite(.waits) struct RuleTests {
    private func pool(_ values: [String: Any]? = nil) throws -> (file: TypedFile, prefs: PoolPrefs) {
        let file = try TypedFile(values)
        return (file, PoolPrefs(key: TypedFile.root, store: file.store))
    }

    // MARK: - Writes

    /// Every operation that gives a value, or removes one: the default of `high` is too low then.
    @Test(arguments: WriteOperation.of(.property, .instance)) func everyOperationAsksTheRules(
        _ operation: WriteOperation
    ) async throws {
        if operation.effect == .empties { return }
        let (file, prefs) = try pool(["low": 20, "high": 30])
        let before = try (file.bytes, file.fileNumber)
        let others: [String: Any] = operation.storesSeveralKeys ? ["low": 20, "name": "x"] : [:]
        let target = WriteTarget(
            prefs, \.high, \.$high, to: 19, with: others,
            create: { PoolPrefs(key: TypedFile.root, values: $0, store: file.store) })
        let error = await target.perform(operation)
        #expect(error == PoolPrefs.violated)
        #expect(try file.bytes == before.0 && file.fileNumber == before.1)
        #expect((prefs.low, prefs.high, prefs.name) == (20, 30, ""))
        if operation != .initializer {
            #expect(prefs.errors == ["low must be at most high; the stored state is unchanged"])
        }
        // What fits is stored.
        prefs.high = 20
        #expect(prefs.outcome == "ok")
        #expect(try file.stored == exactly(["low": 20, "high": 20]))
    }

    @Test func theResultOfAnUpdateCountsAndNotItsSteps() throws {
        let (file, prefs) = try pool(["low": 1, "high": 2])
        let outcome = prefs.update {
            prefs.low = 50
            #expect(prefs.low == 50 && prefs.lastError == nil)
            prefs.update { prefs.name = "four" }
            #expect(prefs.lastError == nil, "the update inside is a part of the other")
            prefs.high = 60
        }.failure
        #expect(outcome == nil)
        #expect(try file.stored == exactly(["low": 50, "high": 60, "name": "four"]))
        #expect(prefs.update { $0 = ["low": 70, "high": 80] }.failure == nil)
        #expect(prefs.errors == [])
        // A part that would be valid is not stored either.
        let error = prefs.update {
            prefs.name = "x"
            prefs.high = 69
        }.failure
        #expect(error == PoolPrefs.violated && prefs.lastError == PoolPrefs.violated)
        let result = prefs.update { () -> Int in
            prefs.low = 81
            return 5
        }
        #expect(throws: PoolPrefs.violated) { try result.get() }
        #expect(try file.stored == exactly(["low": 70, "high": 80]))
    }

    @Test func eachViolatedRuleGivesItsText() throws {
        let (_, prefs) = try pool()
        #expect(
            prefs.update { $0 = ["low": 5, "high": 3, "name": "long"] }.failure
                == .ruleViolated(["low must be at most high", "name must have at most high characters"]))
        #expect(
            prefs.outcome
                == "low must be at most high; name must have at most high characters; the stored state is unchanged")
        let named = NamedPoolPrefs(store: .memory())
        #expect(named.$low.set(10) == PoolPrefs.violated)
        #expect(named.$name.set("a") == .ruleViolated(["the values violate a rule of NamedPoolPrefs"]))
        #expect(named.values.isEmpty)
    }

    /// A person's mistake blocks no other key, and may be mended step by step.
    @Test func aRuleThatWasViolatedBeforeRejectsNothing() throws {
        let (file, prefs) = try pool(["low": 7, "high": 3])
        prefs.name = "abc"
        prefs.low = 5
        #expect(prefs.outcome == "ok" && prefs.low == 5)
        // The other rule still holds.
        #expect(prefs.$name.set("abcd") == .ruleViolated(["name must have at most high characters"]))
        #expect(prefs.$high.set(2) == .ruleViolated(["name must have at most high characters"]))
        prefs.low = 3
        #expect(prefs.$low.set(4) == PoolPrefs.violated, "it is mended")
        #expect(try file.stored == exactly(["low": 3, "high": 3, "name": "abc"]))
        #expect(prefs.$high.reset() == nil && prefs.high == 9)
    }

    @Test func theRulesAreAskedOnceForEachChange() throws {
        let (_, prefs) = try pool()
        func asked(_ body: () -> Void) -> Int {
            prefs.asked.withLock { $0 = 0 }
            body()
            return prefs.asked.withLock { $0 }
        }
        #expect(asked { prefs.low = 2 } == 1)
        #expect(asked { prefs.low = 2 } == 0, "an equal write")
        #expect(asked { _ = (prefs.low, prefs.values) } == 0)
        #expect(asked { prefs.low = 20 } == 2, "the state before, too")
        #expect(asked { prefs["low"] = "x" } == 0, "rejected before")
        #expect(
            asked {
                prefs.update {
                    prefs.low = 3
                    prefs.high = 8
                    prefs.name = "a"
                }
            } == 1)
        #expect(
            asked {
                _ = try? prefs.update {
                    prefs.low = 30
                    throw Stop()
                }
            } == 0)
        #expect(
            asked {
                prefs.update {
                    prefs.low = 30
                    prefs["low"] = "x"
                }
            } == 0, "the update is rejected already")
    }

    /// The root that an instance has at the time of the write.
    @Test func eachRootIsJudged() throws {
        let (file, prefs) = try pool(["low": 1, "high": 2])
        let error = prefs.update {
            prefs.low = 2
            prefs.key = "Other"
            prefs.low = 10
        }.failure
        #expect(error == PoolPrefs.violated)
        #expect(try file.stored == exactly(["low": 1, "high": 2]))
        // Two instances of one root, in one update.
        let (one, two) = (PoolPrefs(key: "R", store: file.store), PoolPrefs(key: "R", store: file.store))
        #expect(
            one.update {
                two.low = 20
                one.high = 30
            }.failure == nil)
        #expect(one.update { two.low = 40 }.failure == PoolPrefs.violated)
        #expect(one.low == 20 && two.high == 30)
    }

    /// The store's own update has no rules, and an instance in it has.
    @Test func anInstanceInsideAnUpdateOfTheStore() throws {
        let (file, prefs) = try pool(["low": 1, "high": 2])
        #expect(throws: PoolPrefs.violated) {
            try file.store.update(root: "Unrelated") {
                $0 = ["a": 1]; prefs.low = 3
            }
        }
        #expect(try propertyList(at: file.folder.file()).keys.sorted() == [TypedFile.root])
    }

    @Test func aMovedAndMigratedRoot() throws {
        let store = PrefsStore.memory()
        try store.update(root: "OldPool") { $0 = ["lower": 15, "high": 2] }
        let prefs = MovedPoolPrefs(store: store)
        #expect(prefs.$low.set(21) == .ruleViolated(["low must be at most high"]))
        #expect(try store.read(root: "OldPool") != nil, "nothing has moved")
        // The state before was valid or not as the class reads it.
        try store.update(root: "OldPool") { $0 = ["lower": 25, "high": 2] }
        prefs.name = "x"
        #expect(prefs.outcome == "ok" && prefs.low == 25 && prefs.high == 20)
        #expect(try store.read(root: "OldPool") == nil)
        #expect(prefs.problems().map(\.description) == ["low must be at most high"])
        #expect(prefs.errors == ["low must be at most high; the stored state is unchanged"])
    }

    /// A backend has updates of its own.
    @Test func aStoreOfAnotherModule() throws {
        let inner = PrefsStore.memory()
        let prefs = PoolPrefs(store: ForeignBackend(inner).store)
        prefs.high = 4
        #expect(prefs.$low.set(5) == PoolPrefs.violated)
        #expect(
            prefs.update {
                prefs.low = 5
                prefs.high = 6
            }.failure == nil)
        #expect(
            prefs.update {
                prefs.low = 6
                prefs.high = 5
            }.failure == PoolPrefs.violated)
        #expect(prefs.update { $0["high"] = 4 }.failure == PoolPrefs.violated)
        #expect(prefs.update { $0 = ["low": 7, "high": 8] }.failure == nil)
        #expect(try inner.read(root: "PoolPrefs") as? [String: Int] == ["low": 7, "high": 8])
        prefs.deleteRoot()
        #expect(prefs.outcome == "ok" && prefs.values.isEmpty)
    }

    // MARK: - Inside a rule

    @Test func aRuleReadsOtherInstancesAndWritesNothing() throws {
        let file = try TypedFile()
        let pool = PoolPrefs(key: TypedFile.root, store: file.store)
        let elsewhere = PoolPrefs(store: .memory())
        let prefs = CuriousPrefs(pool, elsewhere, store: file.store)
        #expect(prefs.$size.set(18) == nil)
        #expect(prefs.$size.set(19) == .ruleViolated(["size must be at most 18"]))
        // The update of another instance of the file is the one that the rule reads.
        #expect(
            prefs.update {
                pool.high = 11
                prefs.size = 20
            }.failure == nil)
        #expect((prefs.size, prefs.other, pool.low, elsewhere.low) == (20, 0, 1, 1), "no write of the rule is stored")
        #expect(pool.lastError == nil && Set(pool.errors) == ["\(PrefsError.writeInsideRead)"])
        #expect(elsewhere.values.isEmpty)
    }

    /// A value that cannot be read is the default for the rule, and the writer hears nothing of it.
    @Test func aReadInsideARuleReportsNothing() throws {
        let file = try TypedFile(["low": "x", "high": 3])
        let prefs = PoolPrefs(key: TypedFile.root, store: file.store)
        prefs.name = "abc"
        #expect(prefs.outcome == "ok" && prefs.errors == [])
        #expect(prefs.problems().map(\.description) == ["low: expected Int, found a string"])
        #expect(prefs.errors == [] && prefs.lastError == nil)
        #expect(
            prefs.$high.set(0) == .ruleViolated(["low must be at most high", "name must have at most high characters"]))
    }

    @Test func aRuleOfAnotherClassStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            MistakenPrefs(store: .memory()).size = 2
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(errors.contains("MistakenPrefs: a rule for PoolPrefs"), "\(errors)")
    }

    // MARK: - Stored violations

    @Test func aStoredViolationIsAProblem() throws {
        let (file, prefs) = try pool(["low": 5, "high": 3, "name": 4])
        let problems = prefs.problems()
        #expect(problems.map(\.description) == ["low must be at most high", "name: expected String, found an integer"])
        let problem = try #require(problems.first)
        #expect(problem.kind == .rule && problem.source == .stored && problem.path == "" && problem.topLevelKey == "")
        #expect(problem.error == .problem(problem) && problem.error.isWarning)
        // The values are read as they are, and no access meets it.
        #expect((prefs.low, prefs.high) == (5, 3) && prefs.lastError == nil)
        let told = Heard<String>()
        let errors = prefs.onError { told.append("\($0)") }
        #expect(told.all == problems.map(\.description))
        prefs.low = 2
        expectEventually(prefs.problems(), "1 problem") { $0.count == 1 }
        #expect(prefs.$low.set(4) == PoolPrefs.violated)
        #expect(told.wait(for: 3).last == "\(PoolPrefs.violated)")
        errors.cancel()
        #expect(try file.stored == exactly(["low": 2, "high": 3, "name": 4]))
    }

    /// By another program, and by code of this one that knows no class.
    @Test(arguments: [false, true]) func aViolationThatBeginsIsTold(_ isForeign: Bool) throws {
        let folder = TemporaryFolder.fresh
        let store = PrefsStore.json(url: folder.file("base.json"))
        let prefs = PoolPrefs(store: store)
        prefs.low = 2
        let told = Heard<String>()
        let errors = prefs.onError { told.append("\($0)") }
        for round in 1...3 {
            if isForeign {
                try Data(#"{"low": 5, "high": 3}"#.utf8).write(to: folder.file("base.json"))
            } else {
                try store.update(root: "PoolPrefs") { $0 = ["low": 5, "high": 3] }
            }
            #expect(told.wait(for: round) == Array(repeating: "low must be at most high", count: round))
            prefs.update { prefs.low = 1 }
            expectEventually(prefs.state.errorHandlers?.hasTold, is: false)
        }
        errors.cancel()
    }

    // MARK: - At once

    /// Each success makes the gap smaller by one, so there are exactly as many successes as it was wide.
    @Test(arguments: [false, true]) func manyThreadsNeverCrossTheValues(_ isInMemory: Bool) throws {
        let file = try TypedFile(["low": 0, "high": 40])
        let store: PrefsStore = isInMemory ? PrefsStore.memory() : file.store
        try store.update(root: TypedFile.root) { $0 = ["low": 0, "high": 40] }
        let results = Heard<Bool>()
        inThreads(4) { number in
            let prefs = PoolPrefs(key: TypedFile.root, store: store)
            for _ in 0..<20 {
                let error = number % 2 == 0 ? prefs.update { prefs.low += 1 }.failure : prefs.$high.modify { $0 -= 1 }
                #expect(error == nil || error == PoolPrefs.violated)
                results.append(error == nil)
            }
        }
        let prefs = PoolPrefs(key: TypedFile.root, store: store)
        #expect(results.all.count == 80 && results.all.count(where: \.self) == 40)
        #expect(prefs.low == prefs.high)
    }

    @Test func asynchronousUpdatesNeverCrossTheValues() async throws {
        let (file, _) = try pool(["low": 0, "high": 20])
        let stored = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let prefs = PoolPrefs(key: TypedFile.root, store: file.store)
                    return number % 2 == 0
                        ? await prefs.update { prefs.low += 1 }.failure == nil
                        : await prefs.$high.modify { $0 -= 1 } == nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        let prefs = PoolPrefs(key: TypedFile.root, store: file.store)
        #expect(stored == 20 && prefs.low == prefs.high)
    }
}
