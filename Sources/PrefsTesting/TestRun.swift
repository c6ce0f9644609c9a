import Foundation
import PersistentPreferences
import Testing

/// The test run of this process. Swift Testing evaluates the traits of all tests before it runs the first one, so the
/// library learns of the run in time.
enum TestRun {
    static let process = TestProcess(isInTest: { Test.current != nil }, report: report)

    /// Why accesses outside of tests are not watched; nil if they are watched.
    static let obstacle: String? = {
        if StoreReplacements.install(process) { return nil }
        let user = StoreReplacements.earlierClass ?? "the default store"
        let obstacle =
            "\(user) was used before the first test, so an access outside of a test's task reaches the store of its class"
        write(obstacle)
        return obstacle
    }()

    static func watch() {
        _ = obstacle
    }

    private static let message = """
        an access to the default domain of UserDefaults, the preferences of the user who runs the tests: give the test the trait \
        .inMemoryPrefs, or pass a store
        """

    @Sendable
    private static func report() {
        guard Test.current != nil else { return write(message) }
        #if compiler(>=6.3)
            Issue.record("\(message)", severity: .warning)
        #else
            // An issue would fail the test.
            write(message)
        #endif
    }

    private static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("PrefsTesting: \(line)\n".utf8))
    }
}
