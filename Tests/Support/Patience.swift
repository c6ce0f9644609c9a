package import Foundation

/// How long a test waits for an event before it fails and names its place.
package enum Patience {
    private static let usual = 30
    private static let given = Hazard.count("PREFS_TEST_PATIENCE", default: usual)

    /// Whether this run is known to be slower than usual.
    package static var isExtended: Bool { given > usual }

    /// 30 s, and more on a busy machine (`slowness`). `PREFS_TEST_PATIENCE` gives slower tests more time: under a sanitizer, and
    /// in the long forms of the hazard tests. After two failed waits, the others last 1 s, and after twenty they do not wait. So
    /// a run that fails ends within a minute on an idle machine, and its first failure is the relevant one.
    package static var seconds: Int {
        lock.withLock { failures < 2 ? given : failures > 20 ? 0 : 1 } * slowness
    }

    /// By how much a limit that begins now is longer, because this process shares the processors. 1 for up to two threads that
    /// want to run for each processor: the tests themselves make as many. Then it grows with their number.
    ///
    /// Every limit of a test is multiplied by it, so that a busy machine makes the tests slow, and fails none.
    package static var slowness: Int {
        let most = 2 * ProcessInfo.processInfo.activeProcessorCount
        return max(1, (wanting + most - 1) / most)
    }

    /// The threads of the machine that want to run: the average of the last minute or, on Linux, those of this moment if they
    /// are more.
    private static var wanting: Int {
        var average = 0.0
        guard getloadavg(&average, 1) == 1 else { return 0 }
        // "16.35 9.57 7.04 18/461 21840": 18 want to run now.
        let now = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?
            .split(separator: " ").dropFirst(3).first?.split(separator: "/").first.flatMap { Int($0) }
        return max(Int(average.rounded(.up)), now ?? 0)
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var failures = 0

    /// Whether waits are short, because two of them have failed. A wait that has begun before should end soon, too.
    package static var isShort: Bool { lock.withLock { failures >= 2 } }

    /// Makes all waits of this run short: an event has shown that what they wait for does not work.
    package static func giveUp() {
        lock.withLock { failures = max(failures, 2) }
    }

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
        let limit = 4 * given * slowness
        guard !isDone(.now() + .seconds(limit)) else { return }
        fatalError("\(work) did not end within \(limit) s (\(file):\(line))")
    }
}
