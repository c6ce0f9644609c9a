import PrefsLayers

/// The state of the form, and the effect of each key on it. Stores nothing and draws nothing.
struct EditorModel: Equatable {
    /// An action that a key requests. `finish` ends a change.
    enum Effect: Equatable {
        case change(EditorChange)
        /// A change that the user has confirmed.
        case confirmed(EditorChange)
        case redraw
        case leave
    }

    /// The mode, which decides what keys mean.
    indirect enum Mode: Equatable {
        case rows
        /// The text of the selected row.
        case edit(TextField)
        /// The text to search from a place.
        case search(TextField, from: ValuePath?)
        /// The name of an entry to add to a container, or at the top.
        case name(TextField, container: ValuePath?)
        case pick(EditorPicker)
        /// The question whether to make a change. The former mode follows the answer.
        case confirm(String, EditorChange, former: Mode)
        case help(page: Int)
    }

    /// True if entries of any name and type can be added.
    var isOpen: Bool
    private(set) var items: [EditorItem]
    private(set) var rows: [EditorRow]
    private(set) var selection = 0
    private(set) var mode = Mode.rows
    /// The containers whose entries are shown.
    private var open: Set<ValuePath> = []
    /// The places that another process changed since the selection moved.
    private(set) var marked: Set<ValuePath> = []
    /// Why a change of the selected row was not made.
    private(set) var errorMessage: String?
    /// The text of the last search.
    private var query = ""
    /// A message in the last line, shown until the next key.
    var statusMessage: String?
    /// The size of the terminal.
    var size = EditorScreen.Size(columns: 80, rows: 24)

    init(_ items: [EditorItem], isOpen: Bool, statusMessage: String? = nil) {
        self.items = items
        self.isOpen = isOpen
        self.statusMessage = statusMessage
        rows = EditorRow.rows(of: items, open: [])
    }

    /// The selected item; nil if there are no rows.
    var selected: EditorItem? { rows[safe: selection]?.item }

    /// False while a list of choices or the help covers the rows.
    var showsRows: Bool {
        switch mode {
        case .pick, .help: false
        default: true
        }
    }

    /// The text field of the selected row; nil if it is not being edited.
    var field: TextField? {
        if case .edit(let field) = mode { field } else { nil }
    }

    // MARK: - Keys

    mutating func press(_ key: Key) -> Effect? {
        statusMessage = nil
        if key == .redraw { return .redraw }
        switch mode {
        case .rows: return command(key)
        case .edit(let field): return edit(key, field)
        case .search(let field, let start): search(key, field, from: start)
        case .name(let field, let container): name(key, field, container)
        case .pick(let picker): return pick(key, picker)
        case .confirm(_, let change, let former):
            mode = former
            return key == .text("y") || key == .text("Y") ? .confirmed(change) : nil
        case .help(let page): mode = page + 1 < EditorHelp.pages(self).count ? .help(page: page + 1) : .rows
        }
        return nil
    }

    private mutating func command(_ key: Key) -> Effect? {
        let page = size.formRows(rows.count)
        switch key {
        case .up, .backTab: move(to: selection == 0 ? rows.count - 1 : selection - 1)
        case .down, .tab: move(to: selection + 1 < rows.count ? selection + 1 : 0)
        case .pageUp: move(to: max(0, selection - page))
        case .pageDown: move(to: min(rows.count - 1, selection + page))
        case .home: move(to: 0)
        case .end: move(to: rows.count - 1)
        case .enter: enter()
        case .right: if let selected, selected.isContainer { open(selected.path) }
        case .left: close()
        case .text("/"): mode = .search(TextField(), from: selected?.path)
        case .text("n"): if !find(query, from: selected?.path, .next) { statusMessage = "no match" }
        case .text("N"): if !find(query, from: selected?.path, .previous) { statusMessage = "no match" }
        case .text("r"), .delete: return remove()
        case .text("u"): return .change(.undo)
        case .text("a") where isOpen: beginToAdd(to: selected?.path.parent)
        case .text("i") where isOpen: addInside()
        case .text("t") where isOpen:
            if let selected { mode = .pick(.types(selected.name, selected: selected.type, for: .type(selected))) }
        case .text(" "):
            if let selected, selected.isSwitch {
                return .change(.set(selected.path, selected.text == "true" ? "false" : "true", as: selected.type))
            }
        case .text("?"): mode = .help(page: 0)
        case .text("q"): return .leave
        default: break
        }
        return nil
    }

    private mutating func enter() {
        guard let selected else { return }
        errorMessage = nil
        if selected.isContainer {
            if rows[selection].isOpen { close() } else { open(selected.path) }
        } else if !selected.choices.isEmpty {
            mode = .pick(EditorPicker(selected.name, selected.choices, selected: selected.text, for: .value(selected)))
        } else if isOpen, selected.type == nil {
            statusMessage = "a reference of a keyed archive cannot be edited"
        } else {
            mode = .edit(TextField(selected.editedText))
        }
    }

    private mutating func remove() -> Effect? {
        switch selected?.content {
        case nil: return nil
        case .isDefault, .notSet:
            statusMessage = "nothing is stored"
            return nil
        default: return selected.map { .change(.remove($0.path)) }
        }
    }

    private mutating func edit(_ key: Key, _ field: TextField) -> Effect? {
        switch key {
        case .escape: endEdit()
        case .enter:
            guard let selected else { break }
            // Does not store an unchanged text.
            switch selected.content {
            case .set(field.text), .isDefault(field.text): endEdit()
            case _ where selected.isHidden && field.text.isEmpty: endEdit()
            default: return .change(.set(selected.path, field.text, as: selected.type))
            }
        default:
            var field = field
            _ = field.press(key)
            mode = .edit(field)
        }
        return nil
    }

    private mutating func endEdit() {
        mode = .rows
        errorMessage = nil
        rebuild(selecting: selected?.path)
    }

    // MARK: - New entries and choices

    /// Asks for the name and the type of an entry; for the type only, if the container is an array.
    private mutating func beginToAdd(to container: ValuePath?) {
        if let container, item(at: container)?.typeName == "array" {
            mode = .pick(.types("New element", selected: nil, for: .newEntry(name: nil, container: container)))
        } else {
            mode = .name(TextField(), container: container)
        }
    }

    private mutating func addInside() {
        guard let selected, selected.isContainer else {
            statusMessage = "only a dictionary or an array has entries; a adds one beside this"
            return
        }
        beginToAdd(to: selected.path)
    }

    private mutating func name(_ key: Key, _ field: TextField, _ container: ValuePath?) {
        var field = field
        switch key {
        case .escape: mode = .rows
        case .enter where field.text.isEmpty: mode = .rows
        case .enter:
            let purpose = EditorPicker.Purpose.newEntry(name: field.text, container: container)
            mode = .pick(.types(field.text, selected: nil, for: purpose))
        default:
            _ = field.press(key)
            mode = .name(field, container: container)
        }
    }

    private mutating func pick(_ key: Key, _ picker: EditorPicker) -> Effect? {
        guard key == .enter else {
            var picker = picker
            picker.press(key, page: size.rows - 4)
            mode = key == .escape ? .rows : .pick(picker)
            return nil
        }
        mode = .rows
        let type = PropertyListType(rawValue: picker.chosen) ?? .string
        switch picker.purpose {
        case .newEntry(let name, let container): return .change(.add(name: name, to: container, type))
        case .value(let item):
            return item.content == .set(picker.chosen) ? nil : .change(.set(item.path, picker.chosen, as: item.type))
        case .type(let item): return item.type == type ? nil : .change(.retype(item.path, to: type))
        }
    }

    /// Asks whether to make a change.
    mutating func ask(_ question: String, _ change: EditorChange) {
        mode = .confirm(question, change, former: mode)
    }

    // MARK: - Rows

    private func item(at path: ValuePath) -> EditorItem? { rows.first { $0.path == path }?.item }

    /// Moves the selection. Removes all marks, because the user has seen them.
    private mutating func move(to row: Int) {
        errorMessage = nil
        marked = []
        selection = max(0, row)
    }

    private mutating func open(_ path: ValuePath) {
        open.insert(path)
        rebuild(selecting: path)
    }

    /// Closes the selected container, or selects the one around the selected value.
    private mutating func close() {
        guard let row = rows[safe: selection] else { return }
        if row.isOpen {
            open.remove(row.path)
            rebuild(selecting: row.path)
        } else if let parent = row.path.parent {
            go(to: parent)
        }
    }

    /// Selects a place as `move` does.
    mutating func go(to path: ValuePath) {
        move(to: selection)
        select(path)
    }

    /// Selects a place, and opens the containers around it.
    private mutating func select(_ path: ValuePath) {
        var parent = path.parent
        while let container = parent {
            open.insert(container)
            parent = container.parent
        }
        rebuild(selecting: path)
    }

    /// Makes the rows. If the place to select is gone, the selection stays on its line. The row of an edit stays.
    private mutating func rebuild(selecting path: ValuePath?) {
        let former = rows[safe: selection]
        rows = EditorRow.rows(of: items, open: open)
        if let index = rows.firstIndex(where: { $0.path == path }) {
            selection = index
            return
        }
        selection = max(0, min(selection, rows.count - 1))
        if var item = former?.item, isEditing {
            item.content = .notSet
            rows.insert(EditorRow(item: item, depth: former?.depth ?? 0, isOpen: false), at: selection)
        }
    }

    private var isEditing: Bool {
        switch mode {
        case .edit, .confirm(_, _, former: .edit): true
        default: false
        }
    }

    // MARK: - Search

    private enum Direction { case here, next, previous }

    private mutating func search(_ key: Key, _ field: TextField, from start: ValuePath?) {
        switch key {
        case .escape:
            mode = .rows
            if let start { go(to: start) }
        case .enter:
            mode = .rows
            query = field.text
        default:
            var field = field
            _ = field.press(key)
            mode = .search(field, from: start)
            if !field.text.isEmpty, !find(field.text, from: start, .here) {
                statusMessage = "no match"
                if let start { go(to: start) }
            }
        }
    }

    /// Selects the next item whose name or text contains a text in any case, also one inside a closed container.
    ///
    /// - Returns: false if no item contains the text.
    private mutating func find(_ query: String, from start: ValuePath?, _ direction: Direction) -> Bool {
        let all = EditorItem.all(items)
        // Compares bytes, because comparing characters takes quadratic time if there are many combining marks.
        let bytes = Array(query.lowercased().utf8)
        if bytes.isEmpty { return false }
        let first = all.firstIndex { $0.path == start } ?? 0
        let order = all.indices.map { offset in
            switch direction {
            case .here: (first + offset) % all.count
            case .next: (first + 1 + offset) % all.count
            case .previous: (first + 2 * all.count - 1 - offset) % all.count
            }
        }
        let match = order.first { index in
            [all[index].name, all[index].isContainer ? "" : all[index].text].contains {
                Array($0.lowercased().utf8).contains(bytes)
            }
        }
        guard let match else { return false }
        go(to: all[match].path)
        return true
    }

    // MARK: - Values

    /// Ends a change that was made.
    ///
    /// - Parameters:
    ///   - path: the place that has changed.
    ///   - items: the values after the change; nil if they cannot be read.
    mutating func finish(_ change: EditorChange, at path: ValuePath, _ items: [EditorItem]?) {
        mode = .rows
        errorMessage = nil
        marked.remove(path)
        if let items { refresh(items, own: path) } else { rebuild(selecting: selected?.path) }
        if case .remove = change { return }
        guard EditorItem.all(self.items).contains(where: { $0.path == path }) else { return }
        select(path)
        // A new value is edited at once.
        if case .add(_, _, let type) = change, !type.isContainer { enter() }
    }

    /// Shows why a change was not made. If it was an edit, the text stays in the field.
    mutating func fail(_ change: EditorChange, _ message: String) {
        if rows.isEmpty || change == .undo { statusMessage = message } else { errorMessage = message }
    }

    /// Shows new values, and marks those that other processes changed. Keeps the text of an edit.
    ///
    /// - Parameter own: a place that the user changed.
    mutating func refresh(_ items: [EditorItem], own: ValuePath? = nil) {
        let former = Dictionary(rows.map { ($0.path, $0.item) }) { first, _ in first }
        self.items = items
        rebuild(selecting: selected?.path)
        for row in rows where own?.outsideArrays.overlaps(row.path) != true {
            let old = former[row.path]
            let isChanged = row.isOpen ? old?.content != row.item.content : old != row.item
            if isChanged { marked.insert(row.path) }
        }
    }
}
