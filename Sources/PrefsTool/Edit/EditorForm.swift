/// The lines of the values: a table on a wide terminal, otherwise each value below its key. If not all lines fit, shows those around
/// the selected value.
struct EditorForm {
    private typealias Span = EditorScreen.Span

    private(set) var lines: [EditorScreen.Line] = []
    private(set) var cursor: EditorScreen.Position?

    private let width: Int
    private let keyWidth: Int
    private let isTable: Bool

    private static let typeWidth = 10
    private static let stateWidth = 10
    /// The smallest width at which a value is in the line of its key.
    private static let minTableWidth = 72
    /// Limits an error message, so that it leaves room for the form.
    private static let maxErrorLines = 3

    init(_ model: EditorModel, width: Int, height: Int) {
        self.width = width
        isTable = width >= Self.minTableWidth
        keyWidth = model.rows.map { DisplayWidth.of($0.key.name) }.max() ?? 0
        var height = height
        var head: [EditorScreen.Line] = []
        if isTable {
            head = [[Span(text: columns("KEY", "TYPE", "STATE") + "  VALUE", emphasis: .strong)]]
            height -= 1
        }
        var selected = 0..<0
        for (index, row) in model.rows.enumerated() {
            let field = index == model.selection ? model.field : nil
            let start = lines.count
            add(row, isSelected: index == model.selection, field)
            if index == model.selection { selected = start..<lines.count }
        }
        let first = min(selected.lowerBound, max(0, selected.upperBound - height))
        lines = head + lines.dropFirst(first).prefix(height)
        cursor?.row += head.count - first
    }

    private func columns(_ key: String, _ type: String, _ state: String) -> String {
        let cells = [(key, keyWidth), (type, Self.typeWidth), (state, Self.stateWidth)]
        return "  " + cells.map { DisplayWidth.fitted($0, to: $1) }.joined(separator: isTable ? "  " : " ")
    }

    private mutating func add(_ row: EditorRow, isSelected: Bool, _ field: TextField?) {
        let key = (isSelected ? ">" : " ") + (row.isMarked ? "*" : " ")
        let state = field != nil && row.errorMessage == nil ? "editing" : row.state
        let emphasis: Span.Emphasis =
            row.errorMessage != nil ? .error : row.isMarked ? .changed : isSelected ? .strong : .none
        let head = key + columns(row.key.name, row.key.typeName, state).dropFirst(2)
        let indent = isTable ? DisplayWidth.of(head) + 2 : 4
        let room = width - indent
        let visible = field?.shown(width: room) ?? (text: DisplayWidth.fitted(row.text.printable, to: room), cursor: 0)
        let value = Span(text: visible.text, emphasis: field == nil ? emphasis : .none)
        if isTable {
            lines.append([Span(text: head + "  ", emphasis: emphasis), value])
        } else {
            lines.append([Span(text: DisplayWidth.fitted(head, to: width), emphasis: emphasis)])
            lines.append([Span(text: DisplayWidth.spaces(indent)), value])
        }
        if field != nil { cursor = EditorScreen.Position(row: lines.count - 1, column: indent + visible.cursor) }
        if let errorMessage = row.errorMessage {
            let text = DisplayWidth.shortened(errorMessage.printable, to: (width - 4) * Self.maxErrorLines)
            addBelow(DisplayWidth.lines(text, width: width - 4), .error)
        }
        if field != nil, row.isMarked {
            let text = row.content == .notSet ? "(not set)" : row.text.printable
            addBelow([DisplayWidth.fitted("* now: " + text, to: width - 4)], .changed)
        }
    }

    private mutating func addBelow(_ texts: [String], _ emphasis: Span.Emphasis) {
        lines += texts.map { [Span(text: "    " + $0, emphasis: emphasis)] }
    }
}

extension EditorRow {
    /// The state in one word.
    fileprivate var state: String {
        if errorMessage != nil { return "rejected" }
        return switch content {
        case .notSet: "not set"
        case .set: "set"
        case .isDefault: "default"
        case .ofOtherType(_, let name): name
        }
    }
}
