/// What the terminal is to show: lines of text, and where the cursor is.
struct EditorScreen: Equatable {
    /// Text in one manner.
    struct Span: Equatable {
        enum Emphasis { case none, strong, title, error, changed }

        let text: String
        var emphasis = Emphasis.none
    }

    /// Side by side, as many columns as the terminal has, or fewer.
    typealias Line = [Span]

    struct Position: Equatable {
        var row: Int
        var column: Int
    }

    struct Size: Equatable {
        let columns: Int
        let rows: Int

        /// The least that the form fits.
        static let minimum = Size(columns: 40, rows: 12)

        var isSufficient: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }
    }

    /// From the top; what is missing is blank.
    private(set) var lines: [Line]
    /// Nil where there is nothing to type.
    private(set) var cursor: Position?

    /// - Parameter title: where the values are.
    init(_ model: EditorModel, title: String, size: Size) {
        guard size.isSufficient else {
            let text = "prefs edit needs \(Size.minimum.columns) x \(Size.minimum.rows); Ctrl-C leaves"
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

    /// Fits the least size.
    private static let help = [
        "Up Down Tab Shift-Tab  another value",
        "Enter   edit the value; then store it",
        "Esc     give up the edit",
        "Left Right Home End  move in the text",
        "Backspace Delete Ctrl-U  erase (all)",
        "r       reset it to its default value",
        "u       unset it: nothing is stored",
        "q       leave, also Ctrl-C",
        "*       another process changed it",
        "Type [\"a\",\"b\"] or a,b  {\"k\":\"v\"} or k=v",
    ]

    private static func footer(_ model: EditorModel, _ columns: Int) -> Span {
        if let statusMessage = model.statusMessage {
            return Span(text: DisplayWidth.shortened(statusMessage.printable, to: columns), emphasis: .error)
        }
        let text =
            if model.showsHelp {
                "any key goes back"
            } else if model.field != nil {
                "Enter store  Esc give up"
            } else {
                columns < 45 ? "Enter edit  r reset  ? help  q leave" : "Enter edit  r reset  u unset  ? help  q leave"
            }
        return Span(text: DisplayWidth.fitted(text, to: columns), emphasis: .strong)
    }
}
