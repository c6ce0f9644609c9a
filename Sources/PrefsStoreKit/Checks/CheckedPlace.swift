import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// The place that a check runs on, and its expectations.
struct CheckedPlace: Sendable {
    /// The finding of a check; `StoreCheck.run` adds the rule.
    struct Finding: Error {
        let description: String
    }

    /// Thrown by the bodies of updates.
    struct Stop: Error {}

    let makeStore: @Sendable () throws -> any PrefsBackend
    let threads: Int
    let updates: Int
    let patience: Int
    /// Two stores for the place, which may be one object.
    let store: any PrefsBackend
    let other: any PrefsBackend

    init(
        _ makeStore: @escaping @Sendable () throws -> any PrefsBackend, threads: Int, updates: Int, patience: Int
    ) throws {
        self.makeStore = makeStore
        self.threads = threads
        self.updates = updates
        self.patience = patience
        store = try makeStore()
        other = try makeStore()
    }

    func expect(_ condition: Bool, _ finding: @autoclosure () -> String) throws {
        if !condition { throw Finding(description: finding()) }
    }

    /// - Parameter moment: such as "after an update".
    func expect(_ found: [String: Any]?, equals expected: [String: Any]?, _ moment: String) throws {
        let areEqual = found.map { NSDictionary(dictionary: $0) } == expected.map { NSDictionary(dictionary: $0) }
        try expect(areEqual, "Expected \(Self.text(expected)) \(moment), found \(Self.text(found)).")
    }

    func expectRoot(_ root: String, equals expected: [String: Any]?, _ moment: String) throws {
        try expect(other.read(root: root), equals: expected, moment)
        try expect(makeStore().read(root: root), equals: expected, "\(moment), through another object")
    }

    private static func text(_ root: [String: Any]?) -> String {
        guard let root else { return "nil" }
        return "[" + root.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
    }

    /// - Returns: the error of the body, which must throw.
    @discardableResult
    func expectError(_ expected: String, of access: String, _ body: () throws -> Void) throws -> any Error {
        do {
            try body()
        } catch {
            return error
        }
        throw Finding(description: "Expected \(expected) of \(access), found no error.")
    }

    /// Runs the body in a number of threads at once, each with its number, and throws the first error. Uses threads,
    /// because a queue starts only as many as there are cores.
    func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let group = DispatchGroup()
        let failure = Locked<(any Error)?>(nil)
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                do {
                    try body(number)
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                }
                group.leave()
            }
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
