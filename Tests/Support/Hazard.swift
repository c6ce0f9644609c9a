import Foundation

/// How much of a hazard test is run, and what it has to say in the end.
///
/// `swift test` runs the usual amount; a script asks for more through the environment. The summary lines of a run are
/// those that begin with "hazard:".
package enum Hazard {
    /// So many rounds as the variable says, else the usual number. An amount that is none ends the run: it would be taken
    /// for a proof that was never made. 0 is one only where it is the usual.
    package static func count(_ variable: String, default: Int) -> Int {
        guard let text = ProcessInfo.processInfo.environment[variable] else { return usual }
        guard let amount = Int(text), amount >= min(usual, 1) else {
            fatalError("\(variable) is \"\(text)\", and has to be a whole number of at least \(min(usual, 1))")
        }
        return amount
    }

    /// Prints a line of the summary, with a write of its own: others print meanwhile, and the process may be killed.
    package static func report(_ summary: String) {
        fflush(nil)
        try? FileHandle.standardOutput.write(contentsOf: Data("hazard: \(summary)\n".utf8))
    }

    /// Whether a sanitizer is in this program, which makes larger frames and writes to files of its own.
    package static let isSanitized = ["__tsan_init", "__asan_init"].contains { (name: String) in
        dlsym(nil, name) != nil
    }

    /// Whether that test can be run here; where it cannot, the summary tells. For `.enabled(if:)`.
    package static func canRun(_ name: String, if condition: Bool, else reason: String) -> Bool {
        if !condition { report("\(name): skipped: \(reason)") }
        return condition
    }
}
