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
        /// The smallest width at which a value is in the line of its key.
        static let minTableWidth = 72

        var isSufficient: Bool { columns >= Self.minimum.columns && rows >= Self.minimum.rows }
        var isTable: Bool { columns >= Self.minTableWidth }

        /// The rows of a page, at most a number of rows.
        func formRows(_ count: Int) -> Int { min(count, max(1, isTable ? rows - 4 : (rows - 3) / 2)) }
    }

    /// The lines from the top. Missing lines are blank.
    private(set) var lines: [Line]
    /// nil if no text is being edited.
    private(set) var cursor: Position?

    /// - Parameters:
    ///   - command: the name of the command.
    ///   - title: where the values are stored.
    init(_ model: EditorModel, command: String, title: String) {
        let size = model.size
        guard size.isSufficient else {
            let text = "\(command) needs \(Size.minimum.columns) x \(Size.minimum.rows); Ctrl-C quits"
            lines = DisplayWidth.lines(text, width: max(1, size.columns)).prefix(size.rows).map { [Span(text: $0)] }
            return
        }
        let name = DisplayWidth.shortened(command.printable, to: size.columns / 2) + "  "
        let shortTitle = DisplayWidth.shortened(title.printable, to: size.columns - DisplayWidth.of(name))
        lines = [[Span(text: DisplayWidth.fitted(name + shortTitle, to: size.columns), emphasis: .title)]]
        switch model.mode {
        case .help(let page): lines += (EditorHelp.pages(model)[safe: page] ?? []).map { [Span(text: $0)] }
        case .pick(let picker): lines += Self.lines(picker, size)
        default:
            let form = EditorForm(model)
            cursor = form.cursor.map { Position(row: $0.row + lines.count, column: $0.column) }
            lines += form.lines
        }
        if model.showsRows {
            lines += Array(repeating: [], count: size.rows - 2 - lines.count)
            lines.append([Span(text: DisplayWidth.shortened(model.selected?.note.printable ?? "", to: size.columns))])
        }
        lines += Array(repeating: [], count: size.rows - 1 - lines.count)
        let footer = Self.footer(model)
        lines.append(footer.line)
        if let column = footer.cursor { cursor = Position(row: size.rows - 1, column: column) }
    }

    private static func lines(_ picker: EditorPicker, _ size: Size) -> [Line] {
        let height = size.rows - 3
        let first = min(picker.selection, max(0, picker.selection + 1 - height))
        let options = picker.options.indices.dropFirst(first).prefix(height).map { index in
            let isSelected = index == picker.selection
            let text = DisplayWidth.fitted(
                (isSelected ? "> " : "  ") + picker.options[index].printable, to: size.columns)
            return [Span(text: text, emphasis: isSelected ? .strong : .none)]
        }
        return [[Span(text: DisplayWidth.fitted("  \(picker.title.printable):", to: size.columns), emphasis: .strong)]]
            + options
    }

    // MARK: - The last line

    private static func footer(_ model: EditorModel) -> (line: Line, cursor: Int?) {
        let columns = model.size.columns
        switch model.mode {
        case .search(let field, _):
            return prompt("/", field, note: model.statusMessage, columns)
        case .name(let field, let container):
            let place = container.map { " in " + DisplayWidth.shortened($0.text.printable, to: columns / 3) } ?? ""
            return prompt("New entry\(place): ", field, note: nil, columns)
        case .confirm(let question, _, _):
            return ([Span(text: DisplayWidth.shortened(question.printable, to: columns), emphasis: .error)], nil)
        default: break
        }
        if let statusMessage = model.statusMessage {
            return ([Span(text: DisplayWidth.shortened(statusMessage.printable, to: columns), emphasis: .error)], nil)
        }
        return ([Span(text: DisplayWidth.fitted(keys(model), to: columns), emphasis: .strong)], nil)
    }

    private static func prompt(_ label: String, _ field: TextField, note: String?, _ columns: Int) -> (Line, Int?) {
        let note = note.map { "  (\($0))" } ?? ""
        let shown = field.shown(width: columns - DisplayWidth.of(label) - DisplayWidth.of(note))
        let line = [Span(text: label, emphasis: .strong), Span(text: shown.text), Span(text: note, emphasis: .error)]
        return (line, DisplayWidth.of(label) + shown.cursor)
    }

    private static func keys(_ model: EditorModel) -> String {
        switch model.mode {
        case .help: return "press any key to go on"
        case .edit: return "Enter store  Esc cancel"
        case .pick: return "Enter choose  Esc cancel"
        default: break
        }
        return switch (model.isOpen, model.size.isTable) {
        case (false, true): "Enter edit  Space toggle  r reset  u undo  / search  ? help  q quit"
        case (false, false): "Enter edit  u undo  ? help  q quit"
        case (true, true): "Enter edit  a i add  r remove  t type  u undo  / search  ? help  q quit"
        case (true, false): "Enter edit  a add  ? help  q quit"
        }
    }
}
