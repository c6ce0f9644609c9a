package import Foundation

/// How long a test waits for an event before it fails and names its place.
package enum Patience {
    private static let given = Hazard.count("PREFS_TEST_PATIENCE", default: 30)

    /// 30 s. `PREFS_TEST_PATIENCE` gives tests more time that are slower: under a sanitizer, and in the long forms of the hazard tests.
    /// Once two waits have ended in vain, the others last 1 s, and after twenty no time at all: a run that fails ends within a minute, and
    /// the first failure is the one to look at.
    package static var seconds: Int {
        lock.withLock { failures < 2 ? given : failures > 20 ? 0 : 1 }
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var failures = 0

    /// When a wait that begins now ends.
    package static var deadline: ContinuousClock.Instant { .now + .seconds(seconds) }

    /// Says what a wait that ended in vain has waited for, and where in the tests.
    package static func failure(_ what: String, _ file: StaticString, _ line: UInt) -> String {
        "\(failure(what)) (\(file):\(line))"
    }

    /// Says what a wait that ended in vain has waited for.
    package static func failure(_ what: String) -> String {
        defer { lock.withLock { failures += 1 } }
        return "\(what) within \(seconds) s"
    }

    /// Waits for threads that work. They cannot be ended, so the process ends if they take four times as long as a wait may.
    package static func await(
        _ work: String, _ file: StaticString, _ line: UInt, until isDone: (DispatchTime) -> Bool
    ) {
        guard !isDone(.now() + .seconds(4 * given)) else { return }
        fatalError("\(work) did not end within \(4 * given) s (\(file):\(line))")
    }
}
