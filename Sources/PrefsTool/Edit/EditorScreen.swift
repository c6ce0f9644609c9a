/// A screen: lines of text, and the position of the cursor.
struct EditorScreen: Equatable {
    /// Text with one emphasis.
    struct Span: Equatable {
        enum Emphasis { case none, strong, title, error, changed }

        let text: String
        var emphasis = Emphasis.none
    }

    /// Spans side by side, at most as wide as the terminal.
    typealias Line = [Span]

    struct Position: Equatable {
        var row: Int
        var column: Int
    }

    struct Size: Equatable {
        let columns: Int
        let rows: Int

        /// The smallest terminal that fits the form.
        static let minimum = Size(columns: 40, rows: 12)

        var isSufficient: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }
    }

    /// The lines from the top. Missing lines are blank.
    private(set) var lines: [Line]
    /// nil if no text is being edited.
    private(set) var cursor: Position?

    /// - Parameter title: where the values are stored.
    init(_ model: EditorModel, title: String, size: Size) {
        guard size.isSufficient else {
            let text = "prefs edit needs \(Size.minimum.columns) x \(Size.minimum.rows); Ctrl-C quits"
            lines = DisplayWidth.lines(text, width: max(1, size.columns)).prefix(size.rows).map { [Span(text: $0)] }
            return
        }
        let name = "prefs edit  "
        let shortTitle = DisplayWidth.shortened(title.printable, to: size.columns - name.count)
        lines = [[Span(text: DisplayWidth.fitted(name + shortTitle, to: size.columns), emphasis: .title)]]
        if model.showsHelp {
            lines += Self.help.map { [Span(text: $0)] }
        } else {
            let form = EditorForm(model, width: size.columns, height: size.rows - 2)
            cursor = form.cursor.map { Position(row: $0.row + lines.count, column: $0.column) }
            lines += form.lines
        }
        lines += Array(repeating: [], count: size.rows - 1 - lines.count)
        lines.append([Self.footer(model, size.columns)])
    }

    /// Fits the minimum size.
    private static let help = [
        "Up Down Tab Shift-Tab  another value",
        "Enter   edit the value; store it",
        "Esc     cancel the edit",
        "Left Right Home End  move in the text",
        "Backspace Delete Ctrl-U  erase (all)",
        "r       reset the value to its default",
        "u       unset the value: store nothing",
        "q       quit, also Ctrl-C",
        "*       changed by another process",
        "Type [\"a\",\"b\"] or a,b  {\"k\":\"v\"} or k=v",
    ]

    private static func footer(_ model: EditorModel, _ columns: Int) -> Span {
        if let statusMessage = model.statusMessage {
            return Span(text: DisplayWidth.shortened(statusMessage.printable, to: columns), emphasis: .error)
        }
        let text =
            if model.showsHelp {
                "press any key to go back"
            } else if model.field != nil {
                "Enter store  Esc cancel"
            } else {
                columns < 45 ? "Enter edit  r reset  ? help  q quit" : "Enter edit  r reset  u unset  ? help  q quit"
            }
        return Span(text: DisplayWidth.fitted(text, to: columns), emphasis: .strong)
    }
}
