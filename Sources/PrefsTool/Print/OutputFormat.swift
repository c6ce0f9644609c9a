import Foundation
import PersistentPreferences
import PrefsJSON

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
        self = format == .json ? .json : format == .xml ? .xml : .binary
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
