package import Foundation

/// How long a test waits for an event before it fails and names its place.
package enum Patience {
    private static let usual = 30
    private static let given = Hazard.count("PREFS_TEST_PATIENCE", default: usual)

    /// Whether this run is known to be slower than usual.
    package static var isExtended: Bool { given > usual }

    /// 30 s. `PREFS_TEST_PATIENCE` gives slower tests more time: under a sanitizer, and in the long forms of the hazard
    /// tests. After two failed waits, the others last 1 s, and after twenty they do not wait. So a run that fails ends
    /// within a minute, and its first failure is the relevant one.
    package static var seconds: Int {
        lock.withLock { failures < 2 ? given : failures > 20 ? 0 : 1 }
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var failures = 0

    /// The end of a wait that begins now.
    package static var deadline: ContinuousClock.Instant { .now + .seconds(seconds) }

    /// Waits until a condition is true.
    ///
    /// - Returns: false if it did not become true in time.
    package static func until(_ condition: () throws -> Bool) rethrows -> Bool {
        let end = deadline
        while try !condition() {
            if ContinuousClock.now > end { return false }
            sched_yield()
        }
        return true
    }

    /// The message of a failed wait, with what it waited for and its place in the tests.
    package static func failure(_ what: String, _ file: StaticString, _ line: UInt) -> String {
        "\(failure(what)) (\(file):\(line))"
    }

    /// The message of a failed wait, with what it waited for.
    package static func failure(_ what: String) -> String {
        defer { lock.withLock { failures += 1 } }
        return "\(what) within \(seconds) s"
    }

    /// Waits for threads that work. Threads cannot be killed, so the process ends if they take four times as long as a
    /// wait may.
    package static func await(
        _ work: String, _ file: StaticString, _ line: UInt, until isDone: (DispatchTime) -> Bool
    ) {
        guard !isDone(.now() + .seconds(4 * given)) else { return }
        fatalError("\(work) did not end within \(4 * given) s (\(file):\(line))")
    }
}
