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
        self =
            switch format {
            case .json: .json
            case .xml: .xml
            default: .binary
            }
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
