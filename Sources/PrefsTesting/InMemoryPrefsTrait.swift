import PersistentPreferences
public import Testing

/// Gives each test, and each case of a parameterized test, its own store in memory:
/// `@Suite(.inMemoryPrefs) struct EditorTests`.
///
/// The article "Testing your preferences" has samples.
///
/// ## Behavior
/// Instances that were created without a store use the store of the test, in its task and in the tasks that it starts.
/// Tests may run at the same time. Observers keep their store. Tests that share an instance share its
/// ``PersistentPrefs/key`` and ``PersistentPrefs/lastError``.
///
/// In a detached task, a dispatch queue or a thread, such an instance uses the store of the test if no other test with
/// the trait runs; if others run, such accesses share one store. An instance that the test creates keeps the test's
/// store in every thread.
///
/// From the first test with the trait on, no access from outside of a test's task reaches the store of a class, not
/// even in tests without the trait. If an instance was created before the tests began, each test with the trait fails
/// with an issue that names its class.
///
/// The trait does not reach ``PrefKey``, ``AppSetting``, instances that are created with a store, and stores that are
/// used without an instance. It also watches the default domain, as ``Testing/Trait/guardsDefaultPrefs`` does.
public struct InMemoryPrefsTrait: TestTrait, SuiteTrait, TestScoping {
    /// A trait of a suite applies to every test in it.
    public var isRecursive: Bool { true }

    /// Runs a test case with its own store.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A test and its suite may both have the trait.
        if let roots = StoreOverride.innermost, TestRun.process.isRunning(roots) { return try await function() }
        if let obstacle = TestRun.obstacle { Issue.record("\(obstacle)") }
        let store = PrefsStore.memory()
        TestRun.process.begin(store)
        defer { TestRun.process.end(store) }
        try await PersistentPrefs.withStore(store) { try await function() }
    }
}

extension Trait where Self == InMemoryPrefsTrait {
    /// Gives each test, and each case of a parameterized test, its own store in memory. See ``InMemoryPrefsTrait``.
    public static var inMemoryPrefs: Self {
        TestRun.watch()
        return Self()
    }
}
