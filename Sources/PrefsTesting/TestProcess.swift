package import PersistentPreferences
import PrefsPropertyLists

/// The tests of this process, for accesses from outside of a test's task.
package final class TestProcess: StoreReplacement {
    private struct State {
        /// The stores of the running tests.
        var running: [Roots] = []
        var hasBegun = false
        var hasReported = false
    }

    private let state = Locked(State())
    /// The store of accesses that may belong to any of several tests.
    private let shared = PrefsStore.memory().roots
    private let isInTest: @Sendable () -> Bool
    private let report: @Sendable () -> Void

    /// - Parameters:
    ///   - isInTest: whether the caller is in the task of a test.
    ///   - report: called once, by the first access to the default domain, on its thread.
    package init(isInTest: @escaping @Sendable () -> Bool, report: @escaping @Sendable () -> Void) {
        self.isInTest = isInTest
        self.report = report
    }

    /// Begins a test with its own store.
    package func begin(_ store: PrefsStore) {
        state.withLock {
            $0.running.append(store.roots)
            $0.hasBegun = true
        }
    }

    /// Ends a test with its own store.
    package func end(_ store: PrefsStore) {
        state.withLock { $0.running.removeAll { $0 === store.roots } }
    }

    package func isRunning(_ roots: Roots) -> Bool {
        state.withLock { $0.running.contains { $0 === roots } }
    }

    package func roots(inPlaceOf own: Roots) -> Roots? {
        if isInTest() { return nil }
        return state.withLock { state in
            guard state.hasBegun, !state.running.contains(where: { $0 === own }) else { return nil }
            return state.running.count == 1 ? state.running[0] : shared
        }
    }

    package func noteDefaultDomain() {
        let isFirst = state.withLock { state in
            defer { state.hasReported = true }
            return !state.hasReported
        }
        if isFirst { report() }
    }
}
