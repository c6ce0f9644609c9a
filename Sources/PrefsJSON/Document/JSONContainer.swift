/// An object or a list in a JSON text, as a list of items with the blanks and comments around them. The values are only
/// places in the text.
struct JSONContainer {
    /// A member or an element.
    struct Item {
        /// The blanks and comments before it, from the end of what is before it.
        let lead: Range<Int>
        /// The end of the key; nil for an element.
        let keyEnd: Int?
        let value: Range<Int>
        /// Between the value and its comma.
        let gap: Range<Int>
        let hasComma: Bool
        /// A comment on the rest of the line.
        let tail: Range<Int>
    }

    let open: UInt8
    /// A comment on the line of the opening bracket.
    let head: Range<Int>
    var items: [Item] = []
    /// The blanks and comments before the closing bracket.
    var end: Range<Int>

    /// Reads the container at the cursor, which is behind it afterwards.
    init(_ cursor: inout JSONCursor) throws {
        guard let open = cursor.current else { throw JSONCursor.Mismatch() }
        let isObject = open == UInt8(ascii: "{")
        cursor.position += 1
        self.open = open
        head = cursor.restOfLine()
        end = cursor.position..<cursor.position
        while true {
            let leadStart = cursor.position
            cursor.skipBlanks()
            guard let byte = cursor.current else { throw JSONCursor.Mismatch() }
            if byte == open + 2 {
                end = leadStart..<cursor.position
                cursor.position += 1
                return
            }
            let start = cursor.position
            var keyEnd: Int?
            if isObject {
                try cursor.skipText()
                keyEnd = cursor.position
                cursor.skipBlanks()
                guard cursor.current == UInt8(ascii: ":") else { throw JSONCursor.Mismatch() }
                cursor.position += 1
                cursor.skipBlanks()
            }
            let valueStart = cursor.position
            try cursor.skipValue()
            let valueEnd = cursor.position
            cursor.skipBlanks()
            let hasComma = cursor.current == UInt8(ascii: ",")
            let gap = valueEnd..<(hasComma ? cursor.position : valueEnd)
            cursor.position = hasComma ? cursor.position + 1 : valueEnd
            items.append(
                Item(
                    lead: leadStart..<start, keyEnd: keyEnd, value: valueStart..<valueEnd, gap: gap,
                    hasComma: hasComma, tail: cursor.restOfLine()))
        }
    }
}
