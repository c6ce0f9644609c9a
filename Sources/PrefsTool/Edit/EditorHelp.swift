/// The help of the editor, in lines of at most 40 columns.
enum EditorHelp {
    /// The lines of each page that fits the terminal.
    static func pages(_ model: EditorModel) -> [[String]] {
        let all = move + (model.isOpen ? ofDomain : ofClass) + others
        let count = model.size.rows - 2
        return stride(from: 0, to: all.count, by: count).map { Array(all[$0..<min(all.count, $0 + count)]) }
    }

    private static let move = [
        "Up Down Tab Shift-Tab  another row",
        "PgUp PgDn Home End  far rows",
    ]

    private static let ofClass = [
        "Enter   edit the value; store it",
        "Right Left  open or close a struct",
        "r Del   reset: store nothing, so that",
        "        the default applies",
    ]

    private static let ofDomain = [
        "Enter   edit, open or close",
        "Right Left  open, close or go out",
        "a       add an entry beside the row",
        "i       add an entry inside the row",
        "t       choose another type",
        "r Del   remove with all inside",
    ]

    private static let others = [
        "u       undo your last change",
        "Space   toggle true and false",
        "/ n N   search, next, previous",
        "Esc     cancel",
        "q       quit, also Ctrl-C",
        "*       changed by another process",
        "In a text: Left Right Home End,",
        "Backspace Delete Ctrl-U  erase (all)",
        "Type [\"a\",\"b\"] or a,b  {\"k\":\"v\"}",
    ]
}
