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
/// A detached task, a dispatch queue or a thread is outside of the test's task: an instance over `UserDefaults` uses the store of the
/// test there if that is the only running test with the trait; otherwise it uses one store in memory that all such accesses share.
/// So run tests of such code with `swift test --no-parallel`, or use instances that the test creates: these keep its store as long
/// as the test runs, in every thread. Observers stay with the store at which they started, and their closures use it.
///
/// The trait does not reach ``PrefKey``, ``AppSetting`` and stores that are used without an instance.
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
