/// The number of terminal columns of a text: zero, one or two per character.
enum DisplayWidth {
    /// Characters of double width (EastAsianWidth W and F in Unicode), except emoji, which have their own property.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]

    static func of(_ text: String) -> Int {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        // Most characters are ASCII, and the properties of Unicode are slow.
        if let ascii = character.asciiValue { return (0x20..<0x7F).contains(ascii) ? 1 : 0 }
        // The variation selector requests the emoji form.
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return character.unicodeScalars.map(of).max() ?? 0
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.properties.generalCategory == .control ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Hangul vowels and final consonants combine with the preceding letter.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    // MARK: - Fitting text

    /// Returns the text in at most the given number of columns, cut with an ellipsis.
    static func truncated(_ text: String, to width: Int) -> String {
        of(text) > width ? prefix(text, width - 1) + "…" : text
    }

    /// Returns the text with spaces up to the given number of columns.
    static func padded(_ text: String, to width: Int) -> String { text + spaces(width - of(text)) }

    /// Wraps the text to lines of at most the given number of columns, at spaces if possible.
    static func lines(_ text: String, width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var word = String(word)
            let last = lines[lines.count - 1]
            if last.isEmpty || of(last) + 1 + of(word) <= width {
                lines[lines.count - 1] = last.isEmpty ? word : last + " " + word
            } else {
                lines.append(word)
            }
            word = lines[lines.count - 1]
            while of(word) > width {
                let head = prefix(word, width)
                lines[lines.count - 1] = head
                word = String(word.dropFirst(max(1, head.count)))
                lines.append(word)
            }
        }
        return lines
    }

    static func spaces(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }

    /// Returns the longest prefix that fits the given number of columns.
    private static func prefix(_ text: String, _ width: Int) -> String {
        var rest = width
        return String(
            text.prefix {
                rest -= of($0)
                return rest >= 0
            })
    }
}
