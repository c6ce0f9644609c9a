import Foundation
import PersistentPreferences

/// The result of a run: the contents of both output streams, and the exit code.
struct Outcome {
    static let failureCode: Int32 = 1
    /// `EX_USAGE` of sysexits.h.
    static let usageErrorCode: Int32 = 64

    var output = Data()
    /// The format of the output.
    var format = OutputFormat.text
    /// Standard error: text or JSON, already escaped.
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

    /// Adds an error that did not prevent the output. The exit code becomes 1, except for a warning, which keeps it.
    func reporting(_ error: PrefsError?, asJSON: Bool) -> Outcome {
        guard let error else { return self }
        var outcome = self
        outcome.errors += Outcome.failure("\(error)", asJSON: asJSON).errors
        if !error.isWarning { outcome.code = Self.failureCode }
        return outcome
    }

    /// Writes to both streams.
    ///
    /// - Returns: the exit code; 1 if the output cannot be written.
    func write() -> Int32 {
        do {
            try FileHandle.standardOutput.write(contentsOf: format.bytes(output, for: STDOUT_FILENO))
        } catch {
            let failure = Outcome.failure("standard output: \(error.localizedDescription)", asJSON: false)
            try? FileHandle.standardError.write(contentsOf: Data(failure.errors.utf8))
            return Self.failureCode
        }
        // If this fails as well, only the exit code reports it.
        try? FileHandle.standardError.write(contentsOf: Data(errors.utf8))
        return code
    }
}

extension PrefsError {
    /// True if the read that reported this error returned the newest known state of a malformed file, or ignored an entry of a layer.
    var returnsKnownState: Bool {
        switch self {
        case .damaged(let file), .notOurs(let file): file.state != .nothing
        case .invalidLayer: true
        default: false
        }
    }

    var isOfLayers: Bool {
        if case .invalidLayer = self { true } else { false }
    }
}
