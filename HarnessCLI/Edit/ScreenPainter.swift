/// Makes what a terminal understands (ECMA-48) of screens, and only of what differs from the one before.
struct ScreenPainter {
    /// The alternate screen, no wrapping at the last column, and pasted text told from keys.
    static let enterSequence = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h"
    /// Undoes that, and shows the cursor.
    static let leaveSequence: StaticString = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let style: Style
    /// What the terminal shows; nil where nobody knows.
    private var lastScreen: EditorScreen?

    init(_ style: Style) {
        self.style = style
    }

    /// The next screen is painted whole.
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

    /// Each span begins at its own column, even where the terminal and we disagree on the width of a character.
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
        // No colours, which NO_COLOR is about.
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
