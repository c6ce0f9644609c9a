/// A line of text with a cursor.
struct TextField: Equatable {
    private(set) var before: String
    private(set) var after = ""

    /// The cursor is after the text.
    init(_ text: String = "") {
        before = text
    }

    var text: String { before + after }

    mutating func insert(_ text: String) {
        before += text
    }

    /// - Returns: false if the key has no meaning in a text field.
    mutating func press(_ key: Key) -> Bool {
        switch key {
        case .text(let text), .paste(let text): insert(text)
        case .left: if let last = before.popLast() { after.insert(last, at: after.startIndex) }
        case .right: if !after.isEmpty { before.append(after.removeFirst()) }
        case .home: (before, after) = ("", text)
        case .end: (before, after) = (text, "")
        case .backspace: _ = before.popLast()
        case .delete: if !after.isEmpty { after.removeFirst() }
        case .eraseLine: (before, after) = ("", "")
        default: return false
        }
        return true
    }

    /// Returns the visible part of the text in a number of columns, and the cursor's column. An ellipsis marks omitted
    /// text.
    ///
    /// Long text scrolls by half the width, so that the text rarely moves.
    func shown(width: Int) -> (text: String, cursor: Int) {
        let cells = text.map { (text: String($0).printable, width: DisplayWidth.of(String($0).printable)) }
        // Adds a column for the cursor after the text.
        let total = cells.reduce(1) { $0 + $1.width }
        let cursor = DisplayWidth.of(before.map { String($0).printable }.joined())
        if total <= width { return (DisplayWidth.fitted(cells.map(\.text).joined(), to: width), cursor) }
        // Leaves room for a wide character at the cursor and an ellipsis.
        let room = width - 3
        let step = max(1, width / 2)
        let start = cursor <= room ? 0 : ((cursor - room - 1) / step + 1) * step
        let end = start + width
        let isCutBehind = total > end
        let visible = (start + (start > 0 ? 1 : 0))...(end - (isCutBehind ? 1 : 0))
        var shown = start > 0 ? "…" : ""
        var column = 0
        for cell in cells {
            if column >= visible.lowerBound, column + cell.width <= visible.upperBound {
                // Replaces half of a wide character by a space.
                shown += DisplayWidth.spaces(column - start - DisplayWidth.of(shown)) + cell.text
            }
            column += cell.width
        }
        shown += DisplayWidth.spaces(width - DisplayWidth.of(shown) - (isCutBehind ? 1 : 0))
        return (shown + (isCutBehind ? "…" : ""), cursor - start)
    }
}
