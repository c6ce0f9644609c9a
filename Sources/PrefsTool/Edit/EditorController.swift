import PersistentPreferences

/// Connects the form with the values: makes the changes that keys request. Knows no terminal.
struct EditorController {
    /// What a key asks of the terminal.
    enum Request { case redraw, leave }

    private(set) var document: EditorDocument
    var model: EditorModel
    /// Why the last read of the values failed, or returned a former state.
    private var readError: String?

    /// - Throws: the error of the first read.
    init(_ source: any EditableSource, note: String? = nil) throws {
        document = EditorDocument(source)
        try document.read()
        readError = document.failure?.shortText
        model = EditorModel(document.items, isOpen: source.isOpen, statusMessage: readError ?? note)
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
            let failure = read()
            model.finish(change, at: path, failure == nil ? document.items : nil)
            model.statusMessage = failure ?? warning?.shortText
        } catch {
            refresh()
            model.fail(change, "\(error)")
        }
    }

    /// Shows the current values.
    mutating func refresh() {
        let former = readError
        if let failure = read() {
            model.statusMessage = failure
            return
        }
        model.refresh(document.items)
        if let readError {
            model.statusMessage = readError
        } else if former != nil {
            model.statusMessage = "the file can be read again"
        }
    }

    /// - Returns: why the values cannot be read.
    private mutating func read() -> String? {
        do {
            try document.read()
            readError = document.failure?.shortText
            return nil
        } catch {
            readError = (error as? PrefsError)?.shortText ?? "\(error)"
            return readError
        }
    }
}
