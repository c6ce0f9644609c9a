import Foundation
import PersistentPreferences
import Testing

/// This process, as the library sees it. Swift Testing evaluates the traits of all tests before it runs the first one, so the library
/// knows of it in time.
enum TestRun {
    static let process = TestProcess(isInTest: { Test.current != nil }, report: report)

    private static let isInstalled: Bool = {
        let isInstalled = process.install()
        if !isInstalled {
            write("preferences were used before the first test; accesses outside of tests are not watched")
        }
        return isInstalled
    }()

    static func watch() {
        _ = isInstalled
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
