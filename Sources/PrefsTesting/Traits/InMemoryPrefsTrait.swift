import PersistentPreferences
public import Testing

/// Gives each test, and each case of a parameterized test, its own store in memory.
///
/// ```swift
/// @Suite(.inMemoryPrefs) struct EditorTests {
///     @Test func enlargingAddsTwo() {
///         EditorPrefs.shared.fontSize = 12
///         EditorPrefs.shared.enlarge()
///         #expect(EditorPrefs.shared.fontSize == 14)
///     }
/// }
/// ```
///
/// ## Behavior
/// The test runs in ``PersistentPrefs/withStore(_:isolation:_:)``: instances that were created without a store use the store of the
/// test, in its task and in the tasks that it starts. Tests may run at the same time. ``PersistentPrefs/key`` and
/// ``PersistentPrefs/lastError`` belong to an instance, so tests that share one share them.
///
/// A detached task, a dispatch queue or a thread is outside of the test's task. There, an instance that was created without a store
/// uses the store of the test if that is the only running test with the trait; otherwise it uses one store in memory that all such
/// accesses share. So run tests of such code with `swift test --no-parallel`, or use instances that the test creates: these keep its
/// store as long as the test runs, in every thread. Observers stay with the store at which they started, and their closures use it.
///
/// From the first test with the trait on, no access outside of a test's task reaches the store of a class, whether that is the
/// default domain or one that the class chooses by overriding ``PersistentPrefs/store``. This includes accesses of tests without the
/// trait. If an instance was created before the tests began, this cannot be ensured: each test with the trait fails with an issue that
/// names the class of that instance.
///
/// The trait does not reach ``PrefKey``, ``AppSetting``, instances that are created with a store, and stores that are used without an
/// instance.
///
/// It also watches the default domain, as ``Testing/Trait/guardsDefaultPrefs`` does.
public struct InMemoryPrefsTrait: TestTrait, SuiteTrait, TestScoping {
    /// A trait of a suite applies to every test in it.
    public var isRecursive: Bool { true }

    /// Whether this task already is in a test with its own store: the suite of a test with the trait may have it, too.
    @TaskLocal private static var isInScope = false

    /// Runs a test case with its own store.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !Self.isInScope else { return try await function() }
        if let obstacle = TestRun.obstacle { Issue.record("\(obstacle)") }
        let store = InMemoryStore()
        TestRun.process.begin(store)
        defer { TestRun.process.end(store) }
        try await Self.$isInScope.withValue(true) {
            try await PersistentPrefs.withStore(store) { try await function() }
        }
    }
}

extension Trait where Self == InMemoryPrefsTrait {
    /// Gives each test, and each case of a parameterized test, its own store in memory. See ``InMemoryPrefsTrait``.
    public static var inMemoryPrefs: Self {
        TestRun.watch()
        return Self()
    }
}
