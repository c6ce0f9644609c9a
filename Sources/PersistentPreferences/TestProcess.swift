import PrefsPropertyLists

/// What `PrefsTesting` knows of the tests of this process, for instances whose access comes from outside of a test's task. There is
/// none in other programs.
package final class TestProcess: Sendable {
    private static let installed = Locked<TestProcess?>(nil)

    /// Fixed by the first instance or default store of the process, so that no access has to synchronize with a change of it.
    static let current = installed.withLock { $0 }

    private static let earlier = Locked<String?>(nil)

    /// The class of the first instance that was created before the test process was installed, so that accesses of such classes are
    /// not replaced.
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
    /// For accesses that may belong to any of several tests.
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

    /// - Returns: false if an instance or the default store was created before; then this has no effect.
    package func install() -> Bool {
        Self.installed.withLock { $0 = self }
        return Self.current === self
    }

    /// A test with a store of its own begins.
    package func begin(_ store: InMemoryStore) {
        state.withLock {
            $0.running.append(store.roots)
            $0.hasBegun = true
        }
    }

    /// It ends.
    package func end(_ store: InMemoryStore) {
        state.withLock { $0.running.removeAll { $0 === store.roots } }
    }

    func isRunning(_ store: Roots) -> Bool {
        state.withLock { $0.running.contains { $0 === store } }
    }

    /// The store of an access that is in no `withStore`.
    ///
    /// - Parameter own: the store of the instance: that of its class, or the store of a test, which may have ended.
    /// - Returns: nil if the access uses `own`.
    func roots(inPlaceOf own: Roots) -> Roots? {
        if isInTest() { return nil }
        return state.withLock { state in
            guard state.hasBegun, !state.running.contains(where: { $0 === own }) else { return nil }
            return state.running.count == 1 ? state.running[0] : shared
        }
    }

    /// Something uses the default domain.
    func noteDefaultDomain() {
        let isFirst = state.withLock { state in
            defer { state.hasReported = true }
            return !state.hasReported
        }
        if isFirst { report() }
    }
}
