/// Where two texts differ, for the message of a test.
package enum LineDifference {
    /// The first line in which the texts differ, as in `line 2: expected "a\r", found the end`; nil if their bytes are equal.
    package static func first(expected: String, found: String) -> String? {
        let (expected, found) = (lines(of: expected), lines(of: found))
        for number in 0..<max(expected.count, found.count) {
            let (left, right) = (line(number, of: expected), line(number, of: found))
            // "\u{E9}" and "e\u{301}" are equal as texts.
            if !left.unicodeScalars.elementsEqual(right.unicodeScalars) {
                return "line \(number + 1): expected \(left), found \(right)"
            }
        }
        return nil
    }

    private static func lines(of text: String) -> [Substring.UnicodeScalarView] {
        Substring(text).unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func line(_ number: Int, of lines: [Substring.UnicodeScalarView]) -> String {
        lines.indices.contains(number) ? String(lines[number]).debugDescription : "the end"
    }
}
