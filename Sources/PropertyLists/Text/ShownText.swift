/// Text for people: on a terminal, in a log and in the description of an error.
///
/// Stored keys and values may hold characters that control a terminal, reorder the line around them or cannot be seen.
/// The texts that this type returns do not contain such characters, and a second conversion changes nothing. Every
/// function takes linear time.
package enum ShownText {
    /// The most scalars of a key in a message.
    private static let longestKey = 80
    /// The most scalars of a path of keys in a message. The deepest path of short keys fits.
    private static let longestPath = 1_000
    /// The most scalars of a foreign text in a message: of a server, another module or the system. A path of this
    /// package fits.
    private static let longestMessage = 1_200

    /// The text that replaces a secret.
    package static let hidden = "•••"

    /// Whether a scalar is escaped wherever people see it.
    ///
    /// True for control characters, line and paragraph separators, and format characters: bidirectional overrides and
    /// isolates, the zero-width space, the byte order mark, the soft hyphen, tags, and other characters that Unicode
    /// defines as invisible, such as U+3164. False for U+200C, U+200D and variation selectors, which languages and
    /// emoji need.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20..<0x7F).contains(scalar.value) { return false }
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return false }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format: return true
        default: return properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector
        }
    }

    /// The text as one line: a line feed is `\n`, a tab `\t`, and any other unsafe scalar has the form `\u{202e}`.
    ///
    /// - Parameter longest: the most scalars of the result. An ellipsis follows a text that was cut.
    package static func line(_ text: String, longest: Int = .max) -> String {
        var line = ""
        var count = 0
        for scalar in text.unicodeScalars {
            let shown = isUnsafe(scalar) ? escape(scalar) : String(scalar)
            count += shown.unicodeScalars.count
            if count > longest { return line + "…" }
            line += shown
        }
        return line
    }

    /// The text with its line feeds and tabs, and the other unsafe scalars in the form `\u{202e}`.
    package static func lines(_ text: String) -> String {
        replacing(in: text) { isLayout($0) ? nil : escape($0) }
    }

    /// A key in a message: one line of at most 80 scalars, and an ellipsis if it is longer.
    package static func key(_ key: String) -> String { line(key, longest: longestKey) }

    /// A path of keys and indices in a message: one line of at most 1,000 scalars, and an ellipsis if it is longer.
    package static func path(_ path: String) -> String { line(path, longest: longestPath) }

    /// A foreign text in a message: one line of at most 1,200 scalars, and an ellipsis if it is longer.
    package static func message(_ text: String) -> String { line(text, longest: longestMessage) }

    /// An XML document that reads as an equal value, for a terminal: its unsafe scalars are references such as
    /// `&#x202E;`.
    package static func xml(_ document: String) -> String {
        replacing(in: document) { isLayout($0) ? nil : "&#x\(String($0.value, radix: 16, uppercase: true));" }
    }

    package static func isLayout(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\t" }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16))}"
        }
    }

    /// - Parameter replacement: gets the unsafe scalars; nil keeps one.
    package static func replacing(in text: String, by replacement: (Unicode.Scalar) -> String?) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            result += (isUnsafe(scalar) ? replacement(scalar) : nil) ?? String(scalar)
        }
        return result
    }
}
