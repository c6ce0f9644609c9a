import Foundation
import PersistentPreferences

/// What kind of text goes to a stream, which decides how a terminal shows it.
enum OutputFormat {
    /// Lines for people. They were escaped where they were made, and may hold colours.
    case text
    /// A value as it is stored.
    case value
    case json
    case xml
    /// Never written to a terminal.
    case binary

    init(_ format: ExportFormat) {
        self =
            switch format {
            case .binary: .binary
            case .xml: .xml
            case .json: .json
            }
    }

    /// The bytes for a stream. A pipe or a file gets them unchanged. A terminal gets no character that could drive it; JSON and
    /// XML still read as the same value.
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

    /// The same for text.
    func text(_ text: String, for descriptor: Int32) -> String {
        String(decoding: bytes(Data(text.utf8), for: descriptor), as: UTF8.self)
    }
}
