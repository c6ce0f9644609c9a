import PrefsPropertyLists

/// The tests of this process, for accesses from outside of a test's task. `PrefsTesting` installs it; it does not exist
/// in other programs.
package final class TestProcess: Sendable {
    private static let installed = Locked<TestProcess?>(nil)

    /// Set once, by the first instance or default store of the process, so that accesses need no synchronization.
    static let current = installed.withLock { $0 }

    private static let earlier = Locked<String?>(nil)

    /// The class of the first instance that was created before the test process was installed, so that accesses of such
    /// classes are not replaced.
    package static var earlierClass: String? { earlier.withLock { $0 } }

    /// The process for a new instance.
    static func current(for prefs: PersistentPrefs) -> TestProcess? {
        if current == nil { earlier.withLock { $0 = $0 ?? "\(type(of: prefs))" } }
        return current
    }

    private struct State {
        /// The stores of the running tests.
        var running: [Roots] = []
        var hasBegun = false
        var hasReported = false
    }

    private let state = Locked(State())
    /// The store of accesses that may belong to any of several tests.
    private let shared = InMemoryStore().roots
    private let isInTest: @Sendable () -> Bool
    private let report: @Sendable () -> Void

    /// - Parameters:
    ///   - isInTest: whether the caller is in the task of a test.
    ///   - report: called once, by the first access to the default domain, on its thread.
    package init(isInTest: @escaping @Sendable () -> Bool, report: @escaping @Sendable () -> Void) {
        self.isInTest = isInTest
        self.report = report
    }

    /// - Returns: false if an instance or the default store was created before. In that case the call has no effect.
    package func install() -> Bool {
        Self.installed.withLock { $0 = self }
        return Self.current === self
    }

    /// Begins a test with its own store.
    package func begin(_ store: InMemoryStore) {
        state.withLock {
            $0.running.append(store.roots)
            $0.hasBegun = true
        }
    }

    /// Ends a test with its own store.
    package func end(_ store: InMemoryStore) {
        state.withLock { $0.running.removeAll { $0 === store.roots } }
    }

    func isRunning(_ store: Roots) -> Bool {
        state.withLock { $0.running.contains { $0 === store } }
    }

    /// The store of an access outside of every `withStore`.
    ///
    /// - Parameter own: the store of the instance: the store of its class, or the store of a test, which may have
    ///   ended.
    /// - Returns: nil if the access uses `own`.
    func roots(inPlaceOf own: Roots) -> Roots? {
        if isInTest() { return nil }
        return state.withLock { state in
            guard state.hasBegun, !state.running.contains(where: { $0 === own }) else { return nil }
            return state.running.count == 1 ? state.running[0] : shared
        }
    }

    /// Records an access to the default domain.
    func noteDefaultDomain() {
        let isFirst = state.withLock { state in
            defer { state.hasReported = true }
            return !state.hasReported
        }
        if isFirst { report() }
    }
}
