/// Keys, values and names that try to drive a terminal or to run a command in a shell.
enum HostileText {
    /// Text that a terminal would obey or a person would misread. The tool itself uses none of these sequences.
    static let shown = [
        "\u{1B}]0;owned\u{7}\u{1B}[35m\u{1B}[5A", "del\u{7F}", "\u{9B}35m\u{85}", "\u{202E}gnp.exe\u{2066}\u{200F}",
        "a\u{200B}b\u{FEFF}c\u{AD}d\u{E0041}", "line\nfeed\ttab\rreturn\u{2028}\u{2029}", "\u{8}\u{C}\u{B}\u{0}",
        "👨‍👩‍👧 e\u{301} نمی\u{200C}خواهم 日本語",
    ]

    /// Words that a shell would change or run if they were not quoted. A word that is run creates a file `pwned`.
    static let commands = [
        "'\u{301}; touch pwned; '\u{301}", "$(touch pwned)", "`touch pwned`", "\n touch pwned\n", "\\'; touch pwned #",
        "a\\", "$'; touch pwned; '", "\"; touch pwned; \"", "!touch; & touch pwned | touch pwned", "'; touch pwned; #",
        "\u{1B}[2J'; touch pwned; '", "~", "*", "{a,b}", "-h", "--mend", "--\u{301}", "\u{301}", "=ls", "",
    ]

    static let longKey = String(repeating: "k", count: 10_000) + "\u{1B}[35m"

    /// The scalars that must not reach a terminal. Uses the rules of Unicode, not the tool's.
    static func unsafeScalars(in text: String) -> [String] {
        let kept: Set<Unicode.Scalar> = ["\n", "\t", "\u{200C}", "\u{200D}"]
        let unsafe: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        let unseen = "\u{34F}\u{115F}\u{3164}\u{FFA0}".unicodeScalars
        return text.unicodeScalars
            .filter { unsafe.contains($0.properties.generalCategory) && !kept.contains($0) || unseen.contains($0) }
            .map { String($0.value, radix: 16) }
    }
}
