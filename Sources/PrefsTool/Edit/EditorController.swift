import PersistentPreferences

/// Connects the form with the values: makes the changes that keys request. Knows no terminal.
struct EditorController {
    /// A request of a key to the terminal.
    enum Request { case redraw, leave }

    private(set) var document: EditorDocument
    var model: EditorModel
    /// The form of the values, while lines of the file are shown instead.
    private var covered: EditorModel?
    /// Why the last read of the values failed, or returned a former state.
    private var readError: String?
    /// The line of the typing error; nil if the values are shown.
    private var fault: ValuePath?

    /// - Throws: the error of the first read.
    init(_ place: Place, note: String? = nil) throws {
        document = EditorDocument(place)
        try document.read()
        readError = document.failure?.shortText
        model = EditorModel(document.items, isOpen: document.isOpen, statusMessage: readError ?? note)
        pointToFault()
    }

    mutating func press(_ key: Key) -> Request? {
        switch model.press(key) {
        case nil: break
        case .redraw: return .redraw
        case .leave: return .leave
        case .change(let change):
            if let question = document.question(before: change) { model.ask(question, change) } else { perform(change) }
        case .confirmed(let change): perform(change)
        }
        return nil
    }

    private mutating func perform(_ change: EditorChange) {
        do {
            let (path, warning) = try document.perform(change)
            let failure = read(opensFaults: true)
            if !switchForm() { model.finish(change, at: path, failure == nil ? document.items : nil) }
            model.statusMessage = failure ?? warning?.shortText
            pointToFault()
        } catch {
            refresh()
            model.fail(change, "\(error)")
        }
    }

    /// Shows the current values.
    mutating func refresh() {
        let former = readError
        // Keeps the text of an edit.
        if let failure = read(opensFaults: model.mode == .rows || fault != nil) {
            model.statusMessage = failure
            return
        }
        if !switchForm() { model.refresh(document.items) }
        if let readError {
            model.statusMessage = readError
        } else if former != nil {
            model.statusMessage = "the file can be read again"
        }
        // Keeps the text of an edit at its line.
        if model.mode == .rows, document.faulty?.fault != fault { pointToFault() }
    }

    /// Shows the lines of a file that has become malformed instead of its values, or the values of a file that has been
    /// corrected. The selection stays where it was. Marks show the values that have changed.
    ///
    /// - Returns: false if the form stays.
    private mutating func switchForm() -> Bool {
        guard (document.faulty == nil) != (fault == nil) else { return false }
        let shown = model
        model = EditorModel(document.items, isOpen: document.isOpen)
        if document.faulty != nil {
            covered = shown.mode == .rows ? shown : nil
        } else {
            fault = nil
            if let covered {
                model = covered
                model.statusMessage = nil
                model.refresh(document.items)
            }
        }
        model.size = shown.size
        return true
    }

    /// Selects the line of a typing error.
    private mutating func pointToFault() {
        fault = document.faulty?.fault
        guard let faulty = document.faulty else { return }
        model.go(to: faulty.fault)
        model.statusMessage = faulty.reason
    }

    /// - Returns: why the values cannot be read.
    private mutating func read(opensFaults: Bool) -> String? {
        do {
            try document.read(opensFaults: opensFaults)
            readError = document.failure?.shortText
            return nil
        } catch {
            readError = (error as? PrefsError)?.shortText ?? "\(error)"
            return readError
        }
    }
}
