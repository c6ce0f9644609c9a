/// The lines of the values: a table on a wide terminal, or each value below its key on a narrow one. If not all lines
/// fit, shows the lines around the selected value.
struct EditorForm {
    private typealias Span = EditorScreen.Span

    private(set) var lines: [EditorScreen.Line] = []
    private(set) var cursor: EditorScreen.Position?

    private let model: EditorModel
    private let width: Int
    private let keyWidth: Int
    private let typeWidth: Int
    private var isTable: Bool { model.size.isTable }

    private static let minTypeWidth = 10
    private static let stateWidth = 10
    /// Limits an error message, so that it leaves room for the form.
    private static let maxErrorLines = 3

    init(_ model: EditorModel) {
        self.model = model
        width = model.size.columns
        // The rows without the title, the note and the keys.
        var height = model.size.rows - 3
        // Only rows near the selected one can be visible.
        let near = model.rows.indices.dropFirst(max(0, model.selection - height)).prefix(2 * height + 1)
        let longest = near.map { DisplayWidth.of(Self.name(model.rows[$0], in: model)) }.max() ?? 0
        keyWidth = max(3, min(longest, width * 2 / 5))
        let longestType = near.map { DisplayWidth.of(model.rows[$0].item.typeName) }.max() ?? 0
        typeWidth = max(Self.minTypeWidth, min(longestType, width / 8))
        var head: [EditorScreen.Line] = []
        if isTable {
            head = [[Span(text: columns("KEY", "TYPE", "STATE") + "  VALUE", emphasis: .strong)]]
            height -= 1
        }
        if model.rows.isEmpty { lines = [[Span(text: "  nothing is stored; a adds an entry")]] }
        var selected = 0..<0
        for index in near {
            let start = lines.count
            add(model.rows[index], isSelected: index == model.selection)
            if index == model.selection { selected = start..<lines.count }
        }
        let first = min(selected.lowerBound, max(0, selected.upperBound - height))
        lines = head + lines.dropFirst(first).prefix(height)
        cursor?.row += head.count - first
    }

    /// The name at its depth, with the state of a container.
    private static func name(_ row: EditorRow, in model: EditorModel) -> String {
        let isTree = model.isOpen || model.items.contains { !$0.children.isEmpty }
        guard isTree else { return row.item.name.printable }
        return DisplayWidth.spaces(2 * row.depth) + (row.item.isContainer ? (row.isOpen ? "- " : "+ ") : "  ")
            + row.item.name.printable
    }

    /// Joins the columns. All entries of a domain are stored, so their state is shown in the column of the type.
    private func columns(_ key: String, _ type: String, _ state: String) -> String {
        let cells = [(key, keyWidth), (type, typeWidth)] + (model.isOpen ? [] : [(state, Self.stateWidth)])
        return "  " + cells.map { DisplayWidth.fitted($0, to: $1) }.joined(separator: isTable ? "  " : " ")
    }

    private mutating func add(_ row: EditorRow, isSelected: Bool) {
        let item = row.item
        let field = isSelected ? model.field : nil
        let errorMessage = isSelected ? model.errorMessage : nil
        let isMarked = model.marked.contains(item.path)
        let activity = errorMessage != nil ? "rejected" : field != nil ? "editing" : nil
        let type = model.isOpen ? activity ?? item.typeName : item.typeName
        let emphasis: Span.Emphasis = errorMessage != nil ? .error : isMarked ? .changed : isSelected ? .strong : .none
        let head =
            (isSelected ? ">" : " ") + (isMarked ? "*" : " ")
            + columns(Self.name(row, in: model), type, activity ?? item.state).dropFirst(2)
        let indent = isTable ? DisplayWidth.of(head) + 2 : 4
        let room = width - indent
        let visible = field?.shown(width: room) ?? (text: DisplayWidth.fitted(item.text.printable, to: room), cursor: 0)
        let value = Span(text: visible.text, emphasis: field == nil ? emphasis : .none)
        if isTable {
            lines.append([Span(text: head + "  ", emphasis: emphasis), value])
        } else {
            lines.append([Span(text: DisplayWidth.fitted(head, to: width), emphasis: emphasis)])
            lines.append([Span(text: DisplayWidth.spaces(indent)), value])
        }
        if field != nil { cursor = EditorScreen.Position(row: lines.count - 1, column: indent + visible.cursor) }
        if let errorMessage {
            let text = DisplayWidth.shortened(errorMessage.printable, to: (width - 4) * Self.maxErrorLines)
            addBelow(DisplayWidth.lines(text, width: width - 4), .error)
        }
        if field != nil, isMarked {
            let text = item.content == .notSet ? "(not set)" : item.text.printable
            addBelow([DisplayWidth.fitted("* now: " + text, to: width - 4)], .changed)
        }
    }

    private mutating func addBelow(_ texts: [String], _ emphasis: Span.Emphasis) {
        lines += texts.map { [Span(text: "    " + $0, emphasis: emphasis)] }
    }
}

extension EditorItem {
    /// The state in one word.
    fileprivate var state: String {
        switch content {
        case .notSet: "not set"
        case .set, .container: "set"
        case .isDefault: "default"
        case .unfit(_, let state): state
        case .ofLayer(_, let name): name
        }
    }
}
