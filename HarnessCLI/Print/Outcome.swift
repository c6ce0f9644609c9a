import Foundation
import PersistentPreferences

/// What a run of the harness gives: bytes and text for the two streams, and the exit code.
struct Outcome {
    static let failureCode: Int32 = 1
    /// `EX_USAGE` of sysexits.h.
    static let usageErrorCode: Int32 = 64

    var output = Data()
    /// The form of the output.
    var format = OutputFormat.text
    /// For people, or JSON; safe for a terminal.
    var errors = ""
    var code: Int32 = 0

    init(output: String = "", as format: OutputFormat = .text, errors: String = "", code: Int32 = 0) {
        self.init(bytes: Data(output.utf8), as: format)
        self.errors = errors
        self.code = code
    }

    init(bytes: Data, as format: OutputFormat) {
        output = bytes
        self.format = format
    }

    static func failure(_ message: String, code: Int32 = failureCode, asJSON: Bool) -> Outcome {
        let text =
            asJSON
            ? OutputFormat.json.text(JSONText.object([("error", message)]), for: STDERR_FILENO)
            : "\(Style(of: STDERR_FILENO).red("prefs:")) \(message.printable)"
        return Outcome(errors: text + "\n", code: code)
    }

    /// The same outcome, which also tells of something that did not keep it from its output. The exit code stays 0 for a warning
    /// of what was done all the same.
    func reporting(_ error: PrefsError?, asJSON: Bool) -> Outcome {
        guard let error else { return self }
        var outcome = self
        outcome.errors += Outcome.failure("\(error)", asJSON: asJSON).errors
        if !error.isWarning { outcome.code = Self.failureCode }
        return outcome
    }

    /// Writes to both streams.
    /// - Returns: the exit code, which tells too where the output could not be written.
    func write() -> Int32 {
        do {
            try FileHandle.standardOutput.write(contentsOf: format.bytes(output, for: STDOUT_FILENO))
        } catch {
            let failure = Outcome.failure("standard output: \(error.localizedDescription)", asJSON: false)
            try? FileHandle.standardError.write(contentsOf: Data(failure.errors.utf8))
            return Self.failureCode
        }
        // Where not even this can be written, the code is all that is left.
        try? FileHandle.standardError.write(contentsOf: Data(errors.utf8))
        return code
    }
}

extension PrefsError {
    /// Whether a read that reports this returned values all the same: the newest known state of a malformed file.
    var returnsKnownState: Bool {
        switch self {
        case .damaged(let file), .notOurs(let file): file.state != .nothing
        default: false
        }
    }
}
