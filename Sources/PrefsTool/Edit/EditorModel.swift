/// The state of the form, and the effect of each key on it. Stores nothing and draws nothing.
struct EditorModel: Equatable {
    /// An action that a key requests. `finish` changes the values after the action.
    enum Effect: Equatable {
        case store(String, row: Int)
        case reset(row: Int)
        case unset(row: Int)
        case redraw
        case leave

        fileprivate var row: Int? {
            switch self {
            case .store(_, let row), .reset(let row), .unset(let row): row
            case .redraw, .leave: nil
            }
        }
    }

    private(set) var rows: [EditorRow]
    private(set) var selection = 0
    /// The text field of the selected row; nil if it is not being edited.
    private(set) var field: TextField?
    private(set) var showsHelp = false
    /// A message in the last line, shown until the next key.
    var statusMessage: String?

    init(_ rows: [EditorRow], statusMessage: String? = nil) {
        self.rows = rows
        self.statusMessage = statusMessage
    }

    var selected: EditorRow { rows[selection] }

    // MARK: - Keys

    mutating func press(_ key: Key) -> Effect? {
        statusMessage = nil
        if key == .redraw { return .redraw }
        if showsHelp {
            showsHelp = false
            return nil
        }
        return field == nil ? command(key) : edit(key)
    }

    private mutating func command(_ key: Key) -> Effect? {
        switch key {
        case .up, .backTab: move(to: selection - 1)
        case .down, .tab: move(to: selection + 1)
        case .home: move(to: 0)
        case .end: move(to: rows.count - 1)
        case .enter:
            rows[selection].errorMessage = nil
            field = TextField(selected.text)
        case .text("r"): return .reset(row: selection)
        case .text("u"): return .unset(row: selection)
        case .text("?"): showsHelp = true
        case .text("q"): return .leave
        default: break
        }
        return nil
    }

    private mutating func edit(_ key: Key) -> Effect? {
        switch key {
        case .escape: endEdit()
        case .enter:
            guard let text = field?.text else { break }
            // Does not store an unchanged text, because the form may show a date rounded.
            switch selected.content {
            case .set(text), .isDefault(text): endEdit()
            default: return .store(text, row: selection)
            }
        default: _ = field?.press(key)
        }
        return nil
    }

    private mutating func endEdit() {
        field = nil
        rows[selection].errorMessage = nil
    }

    /// Moves the selection, also from the last row to the first and back. Removes all marks, since the user has seen them.
    private mutating func move(to row: Int) {
        rows[selection].errorMessage = nil
        for row in rows.indices { rows[row].isMarked = false }
        selection = (row + rows.count) % rows.count
    }

    // MARK: - Values

    /// Ends an action. If it failed, the text stays in the field.
    ///
    /// - Parameter contents: the stored values after the action; nil if they cannot be read.
    mutating func finish(_ effect: Effect, errorMessage: String?, _ contents: [EditorRow.Content]?) {
        if let row = effect.row {
            rows[row].errorMessage = errorMessage
            if errorMessage == nil {
                field = nil
                rows[row].isMarked = false
                // The user's own change is not marked.
                if let contents { rows[row].content = contents[row] }
            }
        }
        if let contents { refresh(contents) }
    }

    /// Shows new values, and marks those that other processes changed. Keeps the text of an edit.
    mutating func refresh(_ contents: [EditorRow.Content]) {
        for (row, content) in contents.enumerated() where rows[row].content != content {
            rows[row].content = content
            rows[row].isMarked = true
        }
    }
}
