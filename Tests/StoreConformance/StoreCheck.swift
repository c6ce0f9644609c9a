package import PersistentPreferences
import Foundation
import TestSupport

/// The contract of `PrefsStore`, clause by clause, to be run over every store: in the tests' own process, and in children
/// over the domain of UserDefaults.
package enum StoreCheck: String, CaseIterable, Sendable {
    case missingIsNil, emptyIsNotMissing, updateIsRead, rootsAreSeparate, nilRemoves
    case throwingChangesNothing, unsupportedIsRefused, valuesAreCanonical, nothingIsAliased, badRootIsRefused
    case nestedReadSeesNestedWrite, nestedWriteJoins, nestedErrorUndoesAll, otherStoreIsRefused,
        nestedRootsCommitTogether
    case leftAloneKeepsNestedWrites, incrementsAddUp, keysOfManyWritersSurvive

    /// A behavior of a store that violates the contract.
    package struct Violation: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Stop: Error {}

    /// - Parameter makeStore: gives objects that stand for one place, empty at first.
    package func run(_ makeStore: @escaping @Sendable () throws -> any PrefsStore) throws {
        let store = try makeStore()
        let other = try makeStore()
        switch self {
        case .missingIsNil:
            try expect(store.read(root: "A") == nil, "a root that was never written reads nil")
        case .emptyIsNotMissing:
            try store.update(root: "A") { $0 = [:] }
            try expect(other.read(root: "A")?.isEmpty == true, "an empty root is there")
        case .updateIsRead:
            try store.update(root: "A") { $0 = ["a": 1, "b": ["x", "y"]] }
            try expect(other.read(root: "A")?["a"] as? Int == 1, "another object reads what was written")
            try expect(other.read(root: "A")?["b"] as? [String] == ["x", "y"], "containers too")
            try other.update(root: "A") { $0?["a"] = 2 }
            try expect(store.read(root: "A")?["a"] as? Int == 2, "and the other way round")
        case .rootsAreSeparate:
            try store.update(root: "A") { $0 = ["a": 1] }
            try store.update(root: "B/../.") { $0 = ["a": 2] }
            try expect(other.read(root: "A")?["a"] as? Int == 1, "roots are separate")
            try expect(other.read(root: "B/../.")?["a"] as? Int == 2, "whatever is in their names")
        case .nilRemoves:
            try store.update(root: "A") { $0 = ["a": 1] }
            try store.update(root: "A") { $0 = nil }
            try expect(other.read(root: "A") == nil, "nil removes the root")
        case .throwingChangesNothing:
            try store.update(root: "A") { $0 = ["a": 1] }
            try expectThrow("the body's error is thrown") {
                try store.update(root: "A") { root in
                    root = ["a": 2]
                    throw Stop()
                }
            }
            try expect(other.read(root: "A")?["a"] as? Int == 1, "and nothing has changed")
        case .unsupportedIsRefused:
            try store.update(root: "A") { $0 = ["a": 1] }
            do {
                try store.update(root: "A") { $0 = ["a": 2, "z": [UUID()], "b": { 1 } as () -> Int] }
                throw Violation(description: "a closure was taken")
            } catch PrefsError.valuesNotPlistCompatible(let keys) {
                try expect(keys == ["b", "z"], "every offender is named, sorted")
            }
            try expect(other.read(root: "A")?["a"] as? Int == 1, "a refused update changes nothing")
        default:
            try runMore(store, other, makeStore)
        }
    }

    private func runMore(
        _ store: any PrefsStore, _ other: any PrefsStore, _ makeStore: @escaping @Sendable () throws -> any PrefsStore
    ) throws {
        switch self {
        case .valuesAreCanonical:
            let optional: Any = Int?.some(4) as Any
            try store.update(root: "A") { $0 = ["int": 1, "double": 1.0, "bool": true, "optional": optional] }
            let values = try other.read(root: "A") ?? [:]
            try expect(values["int"] as? Int == 1 && values["int"] as? Double == 1, "numbers cast")
            try expect(values["double"] as? Double == 1 && values["double"] as? Int == 1, "both ways")
            try expect(values["bool"].map { type(of: $0) == Bool.self } == true, "a Boolean is a Bool")
            try expect(values["optional"].map { $0 is NSNumber } == true, "no optional is left in an Any")
        case .nothingIsAliased:
            let mine = NSMutableArray(array: ["x"])
            try store.update(root: "A") { $0 = ["a": mine] }
            mine.add("y")
            try expect(other.read(root: "A")?["a"] as? [String] == ["x"], "what is stored is a copy")
        case .badRootIsRefused:
            for name in ["", "a\0b", "\u{FEFF}a", String(repeating: "x", count: 1_025)] {
                try expectThrow("\(name.count) characters are refused") { _ = try store.read(root: name) }
                try expectThrow("for writing too") { try store.update(root: name) { $0 = [:] } }
            }
        case .nestedReadSeesNestedWrite:
            try store.update(root: "A") { _ in
                try other.update(root: "A") { $0 = ["a": 1] }
                try expect(store.read(root: "A")?["a"] as? Int == 1, "a read in an update sees a write in it")
            }
        case .nestedWriteJoins:
            try store.update(root: "A") { root in
                root = ["a": 1]
                try other.update(root: "A") { $0 = ["b": 2] }
            }
            let values = try store.read(root: "A") as? [String: Int]
            try expect(values == ["a": 1, "b": 2], "nested writes of other keys survive")
        case .nestedErrorUndoesAll:
            try expectThrow("an error in a nested update ends the whole") {
                try store.update(root: "A") { root in
                    root = ["a": 1]
                    try? other.update(root: "B") { _ in throw Stop() }
                }
            }
            try expect(store.read(root: "A") == nil, "and nothing is committed")
        case .otherStoreIsRefused:
            do {
                try store.update(root: "A") { _ in try InMemoryStore().update(root: "A") { $0 = [:] } }
                throw Violation(description: "an update of another store was taken")
            } catch PrefsError.updateOfAnotherStore {}
        case .nestedRootsCommitTogether:
            try store.update(root: "A") { root in
                root = ["a": 1]
                try other.update(root: "B") { $0 = ["b": 2] }
            }
            try expect(store.read(root: "A")?["a"] as? Int == 1, "both roots")
            try expect(store.read(root: "B")?["b"] as? Int == 2, "are committed")
        case .leftAloneKeepsNestedWrites:
            try store.update(root: "A") { $0 = ["a": 1] }
            try store.update(root: "A") { _ in try other.update(root: "A") { $0 = nil } }
            try expect(store.read(root: "A") == nil, "a nested removal stands")
            try store.update(root: "A") { _ in try other.update(root: "A") { $0 = ["a": 2] } }
            try expect(store.read(root: "A")?["a"] as? Int == 2, "a nested creation stands")
        case .incrementsAddUp:
            let failures = Failures()
            inThreads(8) { _ in
                failures.catching {
                    let store = try makeStore()
                    for _ in 0..<100 {
                        try store.update(root: "A") { $0 = ["n": ($0?["n"] as? Int ?? 0) + 1] }
                    }
                }
            }
            try failures.throwFirst()
            try expect(store.read(root: "A")?["n"] as? Int == 800, "8 threads of 100 increments make 800")
        case .keysOfManyWritersSurvive:
            let failures = Failures()
            inThreads(8) { number in
                failures.catching {
                    for value in 1...25 {
                        try store.update(root: "A") { $0 = ($0 ?? [:]).merging(["\(number)": value]) { $1 } }
                    }
                }
            }
            try failures.throwFirst()
            let expected = Dictionary(uniqueKeysWithValues: (0..<8).map { ("\($0)", 25) })
            try expect(other.read(root: "A") as? [String: Int] == expected, "no writer's key is lost")
        default:
            throw Violation(description: "the check \(rawValue) has no code")
        }
    }

    private func expect(_ condition: @autoclosure () throws -> Bool, _ claim: String) throws {
        guard try condition() else { throw Violation(description: "does not hold: \(claim)") }
    }

    private func expectThrow(_ claim: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            return
        }
        throw Violation(description: "does not hold: \(claim)")
    }
}

/// The errors of several threads.
private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var errors: [any Error] = []

    func catching(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            lock.withLock { errors.append(error) }
        }
    }

    func throwFirst() throws {
        if let error = lock.withLock({ errors.first }) { throw error }
    }
}
