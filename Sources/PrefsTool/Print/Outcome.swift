import Foundation
import PersistentPreferences
import PrefsJSON

/// The result of a run: the contents of both output streams, and the exit code.
package struct Outcome {
    package static let failureCode: Int32 = 1
    /// `EX_USAGE` of sysexits.h.
    package static let usageErrorCode: Int32 = 64

    var output = Data()
    /// The format of the output.
    var format = OutputFormat.text
    /// The lines of standard error.
    var messages: [Message] = []
    var code: Int32 = 0

    /// A line of standard error.
    struct Message {
        let text: String
        var isError = true
        let isJSON: Bool

        /// The line as it is printed, without its end.
        func line(as program: String, in context: ProcessContext) -> String {
            if isJSON { return OutputFormat.json.text(JSONText.object([("error", text)]).json, for: context.errors) }
            let name = program + ":"
            return "\(isError ? context.errorStyle.red(name) : name) \(text.printable)"
        }
    }

    package init(output: String = "", as format: OutputFormat = .text, code: Int32 = 0) {
        self.init(bytes: Data(output.utf8), as: format)
        self.code = code
    }

    init(names: [String], asJSON: Bool) {
        self.init(
            output: asJSON ? names.json + "\n" : names.map { $0.printable + "\n" }.joined(), as: asJSON ? .json : .text)
    }

    init(bytes: Data, as format: OutputFormat) {
        output = bytes
        self.format = format
    }

    package static func failure(_ message: String, code: Int32 = failureCode, asJSON: Bool) -> Outcome {
        var outcome = Outcome(code: code)
        outcome.messages = [Message(text: message, isJSON: asJSON)]
        return outcome
    }

    /// Adds an error that did not prevent the output. The exit code becomes 1, except for a warning, which keeps it.
    func reporting(_ error: PrefsError?, asJSON: Bool) -> Outcome {
        guard let error else { return self }
        var outcome = self
        outcome.messages.append(Message(text: "\(error)", isJSON: asJSON))
        if !error.isWarning { outcome.code = Self.failureCode }
        return outcome
    }

    func reporting(_ failures: [String], asJSON: Bool) -> Outcome {
        var outcome = adding(failures.map { Message(text: $0, isJSON: asJSON) })
        if !failures.isEmpty { outcome.code = Self.failureCode }
        return outcome
    }

    /// Adds messages that are no errors.
    func noting(_ notes: [String], asJSON: Bool) -> Outcome {
        adding(notes.map { Message(text: $0, isError: false, isJSON: asJSON) })
    }

    func adding(_ messages: [Message]) -> Outcome {
        var outcome = self
        outcome.messages += messages
        return outcome
    }

    /// The outcome of a write. A write that was stored is a success, possibly with a warning.
    static func written(asJSON wantsJSON: Bool, _ write: () throws -> PrefsError?) throws -> Outcome {
        var warning: PrefsError?
        do { warning = try write() } catch let error as PrefsError where error.wasStored { warning = error }
        var outcome = Outcome().reporting(warning, asJSON: wantsJSON)
        outcome.code = 0
        return outcome
    }

    /// Writes to both streams.
    ///
    /// - Parameter program: the name that begins each line of standard error.
    /// - Returns: the exit code; 1 if the output cannot be written.
    func write(as program: String, in context: ProcessContext) -> Int32 {
        do {
            try context.writeOutput(format.bytes(output, for: context.output))
        } catch {
            let message = Message(text: "\(error)", isJSON: false)
            context.writeError(message.line(as: program, in: context) + "\n")
            return Self.failureCode
        }
        context.writeError(messages.map { $0.line(as: program, in: context) + "\n" }.joined())
        return code
    }
}

extension PrefsError {
    /// True if the read that reported this error returned the newest known state of a malformed file, or ignored an
    /// entry of a layer.
    var returnsKnownState: Bool {
        switch self {
        case .damaged(let file), .notOurs(let file): file.state != .nothing
        case .ignoredInLayer: true
        default: false
        }
    }

    /// True if the write that reported this error was stored.
    var wasStored: Bool {
        if case .durabilityUnconfirmed = self { true } else { isWarning }
    }
}

/// The format of an output, which determines what is escaped on a terminal.
package enum OutputFormat {
    /// Lines for people. They are already escaped, and may contain colours.
    case text
    /// A value exactly as it is stored.
    case value
    case json
    case xml
    /// Never written to a terminal.
    case binary

    init(_ format: FileFormat) {
        self = format.isJSON ? .json : format.isXML ? .xml : .binary
    }

    /// Returns the bytes for a stream. A pipe or a file gets them unchanged. On a terminal, control and format
    /// characters are escaped; JSON and XML still parse to the same value.
    func bytes(_ bytes: Data, for descriptor: Int32) -> Data {
        guard isatty(descriptor) == 1 else { return bytes }
        let text = String(decoding: bytes, as: UTF8.self)
        return switch self {
        case .text, .binary: bytes
        case .value: Data(ShownText.lines(text).utf8)
        case .json: Data(ShownText.json(text).utf8)
        case .xml: Data(ShownText.xml(text).utf8)
        }
    }

    /// Returns the text for a stream, escaped as its bytes are.
    func text(_ text: String, for descriptor: Int32) -> String {
        String(decoding: bytes(Data(text.utf8), for: descriptor), as: UTF8.self)
    }
}

/// Colours for a terminal. NO_COLOR disables them (see no-color.org).
package struct Style {
    let hasColours: Bool

    package static let plain = Style(hasColours: false)

    /// The style for a stream.
    init(of descriptor: Int32, in environment: @autoclosure () -> [String: String]) {
        guard isatty(descriptor) == 1 else {
            hasColours = false
            return
        }
        let environment = environment()
        hasColours = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    private init(hasColours: Bool) {
        self.hasColours = hasColours
    }

    func bold(_ text: String) -> String { marked(text, 1) }
    package func red(_ text: String) -> String { marked(text, 31) }
    package func green(_ text: String) -> String { marked(text, 32) }
    func yellow(_ text: String) -> String { marked(text, 33) }

    private func marked(_ text: String, _ code: Int) -> String {
        hasColours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
