/// The form: what it holds, and what a key does to it. Stores nothing and draws nothing.
struct EditorModel: Equatable {
    /// What a key asks for. The values change when it is done, by `finish`.
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
    /// The edit of the selected row, if one is under way.
    private(set) var field: TextField?
    private(set) var showsHelp = false
    /// About the whole set; until the next key.
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
            // A date may be shown rounded: what nobody has changed is not stored as it is shown.
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

    /// From the last row to the first, and back. What is marked has been seen.
    private mutating func move(to row: Int) {
        rows[selection].errorMessage = nil
        for row in rows.indices { rows[row].isMarked = false }
        selection = (row + rows.count) % rows.count
    }

    // MARK: - Values

    /// An effect has been carried out, or refused; then the text stays.
    /// - Parameter contents: what is stored now; nil where it cannot be read.
    mutating func finish(_ effect: Effect, errorMessage: String?, _ contents: [EditorRow.Content]?) {
        if let row = effect.row {
            rows[row].errorMessage = errorMessage
            if errorMessage == nil {
                field = nil
                rows[row].isMarked = false
                // It is the user's own change, and not marked.
                if let contents { rows[row].content = contents[row] }
            }
        }
        if let contents { refresh(contents) }
    }

    /// What differs was changed by others, and is marked. The text of an edit stays.
    mutating func refresh(_ contents: [EditorRow.Content]) {
        for (row, content) in contents.enumerated() where rows[row].content != content {
            rows[row].content = content
            rows[row].isMarked = true
        }
    }
}
