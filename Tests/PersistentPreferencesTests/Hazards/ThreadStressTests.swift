@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsTestSet
import TestSupport
import Testing
import WriteOperations

/// All operations on prefs, by many threads at once, with exact counts at the end. The sanitizers detect data races
/// (`Scripts/sanitize.sh`). `PREFS_STRESS` sets the number of rounds.
@Suite(.timeLimit(.minutes(10))) struct ThreadStressTests {
    enum Kind: String, CaseIterable {
        case file, hastyFile, xml, memory
    }

    @Test func nothingIsLostAndNothingFailsThatShouldNot() throws {
        let rounds = Hazard.count("PREFS_STRESS", default: Hazard.count(10, long: 20))
        for kind in Kind.allCases {
            let folder = try TemporaryFolder()
            let stress = ThreadStress(try makeStores(kind, in: folder), rounds: rounds)
            inThreads(ThreadStress.Role.allCases.count) { stress.run(ThreadStress.Role.allCases[$0]) }
            stress.settle()
            guard kind != .memory else { continue }
            let list = try propertyList(at: folder.file())
            #expect((list["Counter"] as? [String: Any])?["a"] as? Int == 2 * rounds)
            #expect(try folder.names() == [".test.plist.lastgood", ".test.plist.lock", "link.plist", "test.plist"])
        }
        let (threads, stores) = (ThreadStress.Role.allCases.count, Kind.allCases.count)
        Hazard.report("threads: \(threads * stores * rounds) operations of \(threads) threads over \(stores) stores")
    }

    /// Returns a store for the place at each call: for a file, a new store by one of two paths.
    private func makeStores(_ kind: Kind, in folder: TemporaryFolder) throws -> @Sendable () -> PrefsStore {
        let (url, link) = (folder.file(), folder.file("link.plist"))
        switch kind {
        case .memory:
            let store = PrefsStore.memory()
            return { store }
        case .file, .hastyFile, .xml:
            try FileManager.default.createSymbolicLink(
                atPath: link.path, withDestinationPath: url.lastPathComponent)
            return {
                PrefsStore.propertyList(
                    url: Bool.random() ? link : url, format: kind == .xml ? .plainXML : .binary,
                    durability: kind == .file ? .powerCut : .crash)
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

    private let makeStore: @Sendable () -> PrefsStore
    private let rounds: Int
    /// One instance for all threads, which is moved between two roots that others delete.
    private let shared: PrefsTestSet

    init(_ makeStore: @escaping @Sendable () -> PrefsStore, rounds: Int) {
        self.makeStore = makeStore
        self.rounds = rounds
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
            switch role {
            case .count, .countAlso:
                let store = makeStore()
                let target = WriteTarget(CountPrefs(key: "Counter", store: store), in: store, \.a, \.$a) { $0 += 1 }
                let transactions = target.operations.filter { $0.isTransaction && !$0.isAsync }
                let operation = transactions[round % transactions.count]
                #expect(target.performBlocking(operation) == nil, "count by \(operation)")
            case .pair:
                let prefs = prefs("Pair", "a", "b")
                let error = prefs.update {
                    prefs["a"] = round
                    prefs["b"] = -round
                }.failure
                #expect(error == nil, "pair")
            case .readPairs:
                let seen = prefs("Pair", "a", "b").ints
                #expect(seen["a"] ?? 0 == -(seen["b"] ?? 0), "half a pair")
            case .nest:
                let (outer, inner) = (prefs("Outer", "n"), prefs("Inner", "n"))
                let error = outer.update { values in
                    #expect(inner.update { $0["n"] = ($0["n"] as? Int ?? 0) + 1 }.failure == nil, "inner")
                    values["n"] = inner["n"]
                }.failure
                #expect(error == nil, "outer")
            case .changeInPlace, .changeAlso:
                // Each role has its own key, because two writers add up on one key only inside `update`.
                let key = role == .changeInPlace ? "a" : "b"
                own.values[key] = (own.values[key] as? Int ?? 0) + 1
                #expect(own.lastError == nil, "change in place")
            case .swap:
                let prefs = prefs("Swap", "a", "b")
                Swift.swap(&prefs.values["a"], &prefs.values["b"])
                #expect(prefs.lastError == nil, "swap")
            case .create:
                let name = "key \(round)"
                let created = AnyPrefs([name], key: "Created", values: [name: round], store: makeStore())
                #expect(created.lastError == nil, "create")
            case .move, .moveAlso: shared.key = round.isMultiple(of: role == .move ? 2 : 3) ? "Other" : "Shared"
            case .refuse: refuse(own)
            default: disturb(role, test, round)
            }
        }
        #expect(role == .refuse || own.errors == [], "\(role)")
    }

    /// Operations on roots that others delete in the meantime.
    private func disturb(_ role: Role, _ test: PrefsTestSet, _ round: Int) {
        switch role {
        case .deleteAll: test.deleteRoot()
        case .reset: test.reset()
        case .clear: test.resetAll()
        case .writeShared:
            shared.int = round
            shared.values["String Value"] = "\(round)"
            shared.array += ["\(round)"]
        case .flush:
            test.reload()
            if case .noStoredPrefsForKey("Shared") = test.lastError { return }
            shared.reload()
        case .read:
            let values = test.values
            #expect(values.count <= 5 && test.visibleCount() <= 5)
            #expect(test.outcome == "ok")
            _ = (shared.int, shared.dictionary, shared.date, shared.key, shared.visibleCount())
        default: break
        }
        switch (role, test.lastError) {
        case (_, nil), (.flush, .noStoredPrefsForKey("Shared")): break
        default: Issue.record("\(role): \(test.outcome)")
        }
        switch shared.lastError {
        case nil, .noStoredPrefsForKey("Shared"), .noStoredPrefsForKey("Other"): break
        default: Issue.record("\(role) with the shared one: \(shared.outcome)")
        }
    }

    /// An invalid write is rejected by its own call, even while others write.
    private func refuse(_ own: AnyPrefs) {
        #expect(own.update { $0["z"] = 1 }.failure == .incorrectKeys(invalidElements: ["z"]))
        let error = own.update { (values: inout [String: Any]) in
            values["c"] = 1
            values["d"] = { 1 } as () -> Int
        }.failure
        #expect(error == .valuesNotPlistCompatible(invalidElements: ["d"]))
        #expect(own["c"] == nil, "half a refused update")
    }

    /// Checks the values that are never deleted.
    func settle() {
        #expect(prefs("Counter", "a").ints == ["a": 2 * rounds])
        #expect(prefs("Outer", "n").ints == ["n": rounds])
        #expect(prefs("Inner", "n").ints == ["n": rounds])
        #expect(prefs("Pair", "a", "b").ints == ["a": rounds, "b": -rounds])
        #expect(prefs("Own", "a", "b").ints == ["a": rounds, "b": rounds])
        #expect(prefs("Swap", "a", "b").ints == (rounds.isMultiple(of: 2) ? ["a": 1, "b": 2] : ["a": 2, "b": 1]))
        let created = AnyPrefs((1...rounds).map { "key \($0)" }, key: "Created", store: makeStore())
        #expect(created.values.count == rounds)
    }
}

private final class CountPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var a = 0
}
