/// A line of text with a cursor in it.
struct TextField: Equatable {
    private(set) var before: String
    private(set) var after = ""

    /// The cursor stands behind the text.
    init(_ text: String = "") {
        before = text
    }

    var text: String { before + after }

    mutating func insert(_ text: String) {
        before += text
    }

    /// - Returns: false where the key is none of a text field.
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

    /// What so many columns show of it, and the cursor's column in that. What is left out is an ellipsis.
    ///
    /// Long text turns by half the width, so that the cursor moves and not the text, most of the time.
    func shown(width: Int) -> (text: String, cursor: Int) {
        let cells = text.map { (text: String($0).printable, width: DisplayWidth.of(String($0).printable)) }
        // Behind the text there is room for the cursor.
        let total = cells.reduce(1) { $0 + $1.width }
        let cursor = DisplayWidth.of(before.map { String($0).printable }.joined())
        if total <= width { return (DisplayWidth.fitted(cells.map(\.text).joined(), to: width), cursor) }
        // A wide character at the cursor and an ellipsis behind it fit, too.
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
                // Half of a wide character is a blank.
                shown += DisplayWidth.spaces(column - start - DisplayWidth.of(shown)) + cell.text
            }
            column += cell.width
        }
        shown += DisplayWidth.spaces(width - DisplayWidth.of(shown) - (isCutBehind ? 1 : 0))
        return (shown + (isCutBehind ? "…" : ""), cursor - start)
    }
}
