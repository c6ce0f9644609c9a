import Foundation

/// The amount of a hazard test, and its summary.
///
/// `swift test` runs the usual amount; a script asks for more through the environment. The summary lines of a run begin
/// with "hazard:".
package enum Hazard {
    /// The number of rounds in the variable, or the usual number. A value that is not a positive number ends the run,
    /// because the run would claim a proof that was never made. 0 is valid only if it is the usual number.
    package static func count(_ variable: String, default usual: Int) -> Int {
        guard let text = ProcessInfo.processInfo.environment[variable] else { return usual }
        guard let amount = Int(text), amount >= min(usual, 1) else {
            fatalError("\(variable) is \"\(text)\", and has to be a whole number of at least \(min(usual, 1))")
        }
        return amount
    }

    /// Whether the tests run in their long form, as in `.ci/run`.
    package static let isLong = count("PREFS_LONG", default: 0) > 0

    /// The number of rounds, seeds or steps in the usual form of a test and in its long form.
    package static func count(_ usual: Int, long: Int) -> Int { isLong ? long : usual }

    /// The rows of a table that the usual form of a test uses: one of so many, the first of them at `start`. The long form uses all.
    package static func each<Rows: Sequence>(_ step: Int, of rows: Rows, from start: Int = 0) -> [Rows.Element] {
        rows.enumerated().filter { isLong || $0.offset % step == start % step }.map(\.element)
    }

    /// Prints a line of the summary in one write, because others print at the same time and the process may be killed.
    package static func report(_ summary: String) {
        fflush(nil)
        try? FileHandle.standardOutput.write(contentsOf: Data("hazard: \(summary)\n".utf8))
    }

    /// Whether the program runs under a sanitizer, which makes larger frames and writes its own files.
    package static let isSanitized = ["__tsan_init", "__asan_init"].contains { (name: String) in
        dlsym(nil, name) != nil
    }

    /// Whether a test can run here; if not, the summary says so, once. For `.enabled(if:)` of every test that needs
    /// something that a machine may lack.
    package static func canRun(_ name: String, if condition: Bool, else reason: String) -> Bool {
        let line = "\(name): skipped: \(reason)"
        if !condition, skipped.withLock({ $0.insert(line).inserted }) { report(line) }
        return condition
    }

    /// Whether a test can run that a sanitizer prevents: it makes larger frames, starts threads and writes files of its own.
    package static func canRunUnsanitized(_ name: String) -> Bool {
        canRun(name, if: !isSanitized, else: "a sanitizer is on")
    }

    private static let skipped = Reported()

    private final class Reported: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: Set<String> = []

        func withLock<R>(_ body: (inout Set<String>) -> R) -> R { lock.withLock { body(&lines) } }
    }
}
