@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsTestSet
import Testing
import WriteOperations

/// All operations on prefs, by many threads at once, with an exact account at the end. The sanitizers detect data races
/// (`Scripts/sanitize.sh`). `PREFS_STRESS` sets the number of rounds.
@Suite(.timeLimit(.minutes(10))) struct ThreadStressTests {
    enum Kind: String, CaseIterable {
        case file, hastyFile, xml, memory
    }

    @Test func nothingIsLostAndNothingFailsThatShouldNot() throws {
        let rounds = Hazard.count("PREFS_STRESS", default: Hazard.count(10, long: 20))
        let account = StressAccount()
        for kind in Kind.allCases {
            let folder = try TemporaryFolder()
            let stress = ThreadStress(try makeStores(kind, in: folder), rounds: rounds, account)
            inThreads(ThreadStress.Role.allCases.count) { stress.run(ThreadStress.Role.allCases[$0]) }
            stress.settle()
            guard kind != .memory else { continue }
            let list = try propertyList(at: folder.file())
            #expect((list["Counter"] as? [String: Any])?["a"] as? Int == 2 * rounds)
            #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "link.plist", "test.plist"])
        }
        let (operations, lost, surprises) = account.result
        Hazard.report(
            "threads: \(operations) operations of \(ThreadStress.Role.allCases.count) threads over "
                + "\(Kind.allCases.count) stores, \(lost) lost, \(surprises.count) surprises")
        #expect(lost == 0)
        #expect(surprises == [])
    }

    /// Returns a store for the place at each call: for a file, a new store by one of two paths.
    private func makeStores(_ kind: Kind, in folder: TemporaryFolder) throws -> @Sendable () -> any PrefsStore {
        let (url, link) = (folder.file(), folder.file("link.plist"))
        switch kind {
        case .memory:
            let store = InMemoryStore()
            return { store }
        case .file, .hastyFile, .xml:
            try FileManager.default.createSymbolicLink(
                atPath: link.path, withDestinationPath: url.lastPathComponent)
            return {
                PropertyListFileStore(
                    url: Bool.random() ? link : url, format: kind == .xml ? .xml : .binary,
                    durability: kind == .file ? .powerCut : .process)
            }
        }
    }
}

/// One place under stress: the operations of each thread, and the expected state at the end.
private final class ThreadStress: @unchecked Sendable {
    enum Role: CaseIterable {
        case count, countAlso, pair, readPairs, nest, changeInPlace, changeAlso, swap, create
        case deleteAll, reset, clear, move, moveAlso, flush, writeShared, refuse, read
    }

    private let makeStore: @Sendable () -> any PrefsStore
    private let rounds: Int
    private let account: StressAccount
    /// One instance for all threads, which is moved between two roots that others delete.
    private let shared: PrefsTestSet

    init(_ makeStore: @escaping @Sendable () -> any PrefsStore, rounds: Int, _ account: StressAccount) {
        self.makeStore = makeStore
        self.rounds = rounds
        self.account = account
        shared = PrefsTestSet(key: "Shared", store: makeStore())
    }

    private func prefs(_ key: String, _ names: String...) -> AnyPrefs {
        AnyPrefs(names, key: key, store: makeStore())
    }

    func run(_ role: Role) {
        let own = AnyPrefs(["a", "b", "c", "d"], key: "Own", store: makeStore())
        let test = PrefsTestSet(key: "Shared", store: makeStore())
        if role == .swap { prefs("Swap", "a", "b").values = ["a": 1, "b": 2] }
        for round in 1...rounds {
            account.did()
            switch role {
            case .count, .countAlso:
                let store = makeStore()
                let target = WriteTarget(CountPrefs(key: "Counter", store: store), in: store, \.a, \.$a) { $0 += 1 }
                let transactions = target.operations.filter { $0.isTransaction && !$0.isAsync }
                let operation = transactions[round % transactions.count]
                account.expectNone(target.performBlocking(operation), "count by \(operation)")
            case .pair:
                let prefs = prefs("Pair", "a", "b")
                let error = prefs.update {
                    prefs["a"] = round
                    prefs["b"] = -round
                }
                account.expectNone(error, "pair")
            case .readPairs:
                let seen = prefs("Pair", "a", "b").ints
                if seen["a"] ?? 0 != -(seen["b"] ?? 0) { account.surprise("half a pair: \(seen)") }
            case .nest:
                let (outer, inner) = (prefs("Outer", "n"), prefs("Inner", "n"))
                let error = outer.update { values in
                    account.expectNone(inner.update { $0["n"] = ($0["n"] as? Int ?? 0) + 1 }, "inner")
                    values["n"] = inner["n"]
                }
                account.expectNone(error, "outer")
            case .changeInPlace, .changeAlso:
                // Each role has its own key, because two writers add up on one key only inside `update`.
                let key = role == .changeInPlace ? "a" : "b"
                own.values[key] = (own.values[key] as? Int ?? 0) + 1
                account.expectNone(own.lastError, "change in place")
            case .swap:
                let prefs = prefs("Swap", "a", "b")
                Swift.swap(&prefs.values["a"], &prefs.values["b"])
                account.expectNone(prefs.lastError, "swap")
            case .create:
                let name = "key \(round)"
                let created = AnyPrefs([name], key: "Created", values: [name: round], store: makeStore())
                account.expectNone(created.lastError, "create")
            case .move, .moveAlso: shared.key = round.isMultiple(of: role == .move ? 2 : 3) ? "Other" : "Shared"
            case .refuse: refuse(own)
            default: disturb(role, test, round)
            }
        }
        for error in own.errors where role != .refuse { account.surprise("\(role): \(error)") }
    }

    /// Operations on roots that others delete in the meantime.
    private func disturb(_ role: Role, _ test: PrefsTestSet, _ round: Int) {
        switch role {
        case .deleteAll: test.deleteAll()
        case .reset: test.reset()
        case .clear: test.clear()
        case .writeShared:
            shared.int = round
            shared.values["String Value"] = "\(round)"
            shared.array += ["\(round)"]
        case .flush:
            test.flush()
            if case .noStoredPrefsForKey("Shared") = test.lastError { return }
            shared.flush()
        case .read:
            let values = test.values
            if !(0...5).contains(values.count) || test.count > 5 { account.surprise("\(values.count) keys") }
            if test.lastError != nil { account.surprise("read: \(test.outcome)") }
            _ = (shared.int, shared.dictionary, shared.date, shared.key, shared.count)
        default: break
        }
        switch (role, test.lastError) {
        case (_, nil), (.flush, .noStoredPrefsForKey("Shared")): break
        default: account.surprise("\(role): \(test.outcome)")
        }
        switch shared.lastError {
        case nil, .noStoredPrefsForKey("Shared"), .noStoredPrefsForKey("Other"): break
        default: account.surprise("\(role) with the shared one: \(shared.outcome)")
        }
    }

    /// An invalid write is rejected by its own call, even while others write.
    private func refuse(_ own: AnyPrefs) {
        if case .incorrectKeys(["z"]) = own.update({ $0["z"] = 1 }) {} else { account.surprise("a key was taken") }
        let error = own.update { (values: inout [String: Any]) in
            values["c"] = 1
            values["d"] = { 1 } as () -> Int
        }
        if case .valuesNotPlistCompatible(["d"]) = error {} else { account.surprise("a closure was taken") }
        if own["c"] != nil { account.surprise("half a refused update") }
    }

    /// Checks the values that are never deleted.
    func settle() {
        account.expect(2 * rounds, prefs("Counter", "a").ints["a"])
        account.expect(rounds, prefs("Outer", "n").ints["n"])
        account.expect(rounds, prefs("Inner", "n").ints["n"])
        account.expect(rounds, prefs("Pair", "a").ints["a"])
        account.expect(rounds, prefs("Own", "a").ints["a"])
        account.expect(rounds, prefs("Own", "b").ints["b"])
        account.expect(rounds.isMultiple(of: 2) ? 1 : 2, prefs("Swap", "a").ints["a"])
        account.expect(rounds.isMultiple(of: 2) ? 2 : 1, prefs("Swap", "b").ints["b"])
        let created = AnyPrefs((1...rounds).map { "key \($0)" }, key: "Created", store: makeStore())
        account.expect(rounds, created.count)
    }
}

private final class CountPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var a = 0
}

/// The operations and errors of the threads.
private final class StressAccount: Sendable {
    private let counts = Locked((operations: 0, lost: 0, surprises: [String]()))

    var result: (operations: Int, lost: Int, surprises: [String]) { counts.withLock { $0 } }

    func did() { counts.withLock { $0.operations += 1 } }

    func surprise(_ text: String) { counts.withLock { $0.surprises.append(text) } }

    func expectNone(_ error: PrefsError?, _ doing: String) {
        if let error { surprise("\(doing): \(error)") }
    }

    func expect(_ expected: Int, _ found: Int?) { counts.withLock { $0.lost += abs(expected - (found ?? 0)) } }
}
