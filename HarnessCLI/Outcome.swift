import Foundation

/// What a run of the harness gives: texts for the two streams, and the exit code.
struct Outcome {
    static let refused: Int32 = 1
    /// `EX_USAGE` of sysexits.h.
    static let wrongUsage: Int32 = 64

    var output = ""
    var errors = ""
    var code: Int32 = 0

    static func failure(_ message: String, code: Int32 = refused, asJSON: Bool) -> Outcome {
        let text = asJSON ? JSONText.object([("error", message)]) : "prefs: \(message.printable)"
        return Outcome(errors: text + "\n", code: code)
    }

    /// A reader that has gone away (`prefs | head -1`) is no failure of ours.
    static func write(_ text: String, to handle: FileHandle) {
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
