package import Foundation

/// How long a test waits for an event before it fails and names its place.
package enum Patience {
    /// 30 s. `PREFS_TEST_PATIENCE` gives tests more time that are slower: under a sanitizer, and in the long forms of the hazard tests.
    package static let seconds = Hazard.count("PREFS_TEST_PATIENCE", default: 30)

    /// When a wait that begins now ends.
    package static var deadline: ContinuousClock.Instant { .now + .seconds(seconds) }

    /// What failed, and where in the tests.
    package static func message(_ what: String, _ file: StaticString, _ line: UInt) -> String {
        "\(what) within \(seconds) s (\(file):\(line))"
    }

    /// Waits for threads that work. They cannot be ended, so the process ends if they take four times as long as a wait may.
    package static func await(
        _ work: String, _ file: StaticString, _ line: UInt, until isDone: (DispatchTime) -> Bool
    ) {
        guard !isDone(.now() + .seconds(4 * seconds)) else { return }
        fatalError("\(work) did not end within \(4 * seconds) s (\(file):\(line))")
    }
}
