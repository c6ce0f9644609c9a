/// Converts screens to terminal output (ECMA-48). Paints only the lines that changed since the last screen.
struct ScreenPainter {
    /// Selects the alternate screen, disables wrapping and enables bracketed paste.
    static let enterSequence = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h"
    /// Reverts `enterSequence`, and shows the cursor.
    static let leaveSequence: StaticString = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let style: Style
    /// The screen that the terminal shows; nil if it is unknown.
    private var lastScreen: EditorScreen?

    init(_ style: Style) {
        self.style = style
    }

    /// Makes the next `paint` repaint every line.
    mutating func invalidate() {
        lastScreen = nil
    }

    mutating func paint(_ screen: EditorScreen) -> String {
        if screen == lastScreen { return "" }
        var text = "\u{1B}[?25l" + (lastScreen == nil ? "\u{1B}[0m\u{1B}[2J" : "")
        for row in 0..<max(screen.lines.count, lastScreen?.lines.count ?? 0) {
            let line = screen.lines[safe: row] ?? []
            if line != lastScreen?.lines[safe: row] ?? [] { text += paint(line, row) }
        }
        if let cursor = screen.cursor { text += Self.move(cursor.row, cursor.column) + "\u{1B}[?25h" }
        lastScreen = screen
        return text
    }

    /// Positions each span explicitly, because terminals disagree about the width of some characters.
    private func paint(_ line: EditorScreen.Line, _ row: Int) -> String {
        var column = 0
        var text = Self.move(row, 0) + "\u{1B}[2K"
        for span in line {
            text += Self.move(row, column) + styled(span)
            column += DisplayWidth.of(span.text)
        }
        return text
    }

    private func styled(_ span: EditorScreen.Span) -> String {
        switch span.emphasis {
        case .none: span.text
        // Bold and reverse video are not colours, so NO_COLOR does not disable them.
        case .strong: "\u{1B}[1m\(span.text)\u{1B}[0m"
        case .title: "\u{1B}[7m\(span.text)\u{1B}[0m"
        case .error: style.red(span.text)
        case .changed: style.yellow(span.text)
        }
    }

    private static func move(_ row: Int, _ column: Int) -> String {
        "\u{1B}[\(row + 1);\(column + 1)H"
    }
}
