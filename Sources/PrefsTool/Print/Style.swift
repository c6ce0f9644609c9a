import Foundation

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
