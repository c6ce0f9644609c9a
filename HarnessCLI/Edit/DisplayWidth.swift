/// How many columns of a terminal text takes: none, one or two a character.
enum DisplayWidth {
    /// What East Asian fonts draw twice as wide (Unicode's EastAsianWidth W and F), emoji aside, which know by themselves.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]

    static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        // The variation selector asks for the emoji.
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return character.unicodeScalars.map(of).max() ?? 0
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.properties.generalCategory == .control ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Vowels and final consonants that join the Hangul letter before them.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    // MARK: - Text of a width

    /// The text in exactly so many columns: blanks behind it, or an ellipsis in the place of its end.
    static func fitted(_ text: String, to width: Int) -> String {
        let text = of(text) > width ? prefix(text, width - 1) + "…" : text
        return text + spaces(width - of(text))
    }

    /// The text in at most so many columns, an ellipsis in the place of its middle.
    static func shortened(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        let head = prefix(text, width / 3)
        let tail = String(prefix(String(text.reversed()), width - 1 - of(head)).reversed())
        return head + "…" + tail
    }

    /// The text in lines of at most so many columns, broken at blanks where there are any.
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

    /// As much of the beginning as so many columns hold.
    private static func prefix(_ text: String, _ width: Int) -> String {
        var rest = width
        return String(
            text.prefix {
                rest -= of($0)
                return rest >= 0
            })
    }
}
