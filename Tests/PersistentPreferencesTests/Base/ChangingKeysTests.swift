import PersistentPreferences
import PrefsStoreKit
import Testing

/// Each access asks for `keys` again and uses the current result.
@Suite struct ChangingKeysTests {
    private class Changing: PersistentPrefs, @unchecked Sendable {
        nonisolated(unsafe) var current: [String] = []
        override var allowedKeys: [String] { current }
    }

    private final class Declaring: Changing, @unchecked Sendable {
        @Pref var declared = 0
    }

    /// Lists of few keys, which are searched, and of many keys, which are hashed. An unchanged list is cached.
    private static let lists: [[String]] = [
        ["a"], ["b", "c"], [], ["a", "a", "b", "a"], (0..<12).map { "k\($0)" }, (1..<13).map { "k\($0)" },
        (0..<13).map { "k\($0)" }, (1..<300).map { "k\($0)" }, Array(repeating: "a", count: 20),
        ["a", "b", "k5", "k200"],
    ]

    @Test(arguments: [false, true]) func whatTheListSaysNowCounts(_ isDeclaring: Bool) throws {
        let store = PrefsStore.memory()
        let prefs = isDeclaring ? Declaring(key: "Root", store: store) : Changing(key: "Root", store: store)
        let own: Set<String> = isDeclaring ? ["declared"] : []
        let all = Set(Self.lists.joined()).union(own).union(["never"])
        try store.update(root: "Root") { $0 = Dictionary(uniqueKeysWithValues: all.map { ($0, 1 as Any) }) }
        for round in 0..<3 {
            for list in Self.lists {
                prefs.current = list
                // The list, the list again, and a new list with equal keys.
                for keys in [list, list, list.map { $0 + "" }] {
                    prefs.current = keys
                    #expect(Set(prefs.values.keys) == Set(keys).union(own), "round \(round): \(keys)")
                    for key in ["a", "b", "k0", "k12", "k200", "declared", "never"] {
                        let isAllowed = keys.contains(key) || own.contains(key)
                        #expect((prefs[key] != nil) == isAllowed, "round \(round): \(key) of \(keys)")
                        #expect((prefs.lastError == nil) == isAllowed)
                    }
                    prefs.values["never"] = 2
                    #expect(prefs.lastError != nil)
                }
            }
        }
    }

    /// One array that grows in place counts as a new list.
    @Test func aListThatIsChangedInPlace() {
        let prefs = Changing(key: "Root", store: .memory())
        prefs.current.reserveCapacity(400)
        for number in 0..<30 {
            prefs.current.append("k\(number)")
            prefs["k\(number)"] = number
            #expect(prefs.lastError == nil && prefs.values.count == number + 1)
        }
        for number in 0..<30 {
            prefs.current[number] = "other\(number)"
            #expect(prefs["k\(number)"] == nil && prefs.lastError != nil)
            #expect(prefs.values.count == 29 - number)
        }
    }

    @Test func aListThatIsCreatedForEachAccess() {
        final class Anew: PersistentPrefs, @unchecked Sendable {
            nonisolated(unsafe) var amount = 20
            override var allowedKeys: [String] { (0..<amount).map { "k\($0)" } }
        }
        let prefs = Anew(key: "Root", store: .memory())
        for amount in [20, 5, 20, 0, 13, 12, 13, 40] {
            prefs.amount = amount
            prefs.values = Dictionary(uniqueKeysWithValues: prefs.allowedKeys.map { ($0, 1 as Any) })
            #expect(prefs.lastError == nil && prefs.values.count == amount)
            prefs["k\(amount)"] = 1
            #expect(prefs.lastError != nil && prefs["k\(amount)"] == nil)
        }
    }
}
