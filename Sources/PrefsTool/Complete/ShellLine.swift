import PersistentPreferences
import PrefsPropertyLists

/// A command line of bash up to the cursor, parsed as the shell does.
struct ShellLine {
    /// The words before the last one, without quotes.
    private(set) var words: [String] = []
    /// The word before the cursor, without quotes.
    private(set) var word = ""
    /// The part of `word` that bash keeps. It replaces the rest by a completion.
    private(set) var kept = ""
    /// False if quotes end within the word. bash replaces only what follows them.
    private(set) var isReplaceable = true

    private enum Quote { case none, single, double }
    private var quote = Quote.none

    /// - Parameter breaks: the characters at which bash divides a word for completion: `COMP_WORDBREAKS`.
    init(_ line: String, breaks: String) {
        let breaks = Set(breaks.unicodeScalars)
        var isWord = false
        var rest = line.unicodeScalars[...]
        func unescaped(_ scalar: Unicode.Scalar) -> Bool {
            quote != .double || "\\\"$`\n".unicodeScalars.contains(scalar)
        }
        while let scalar = rest.popFirst() {
            switch (scalar, quote) {
            case ("'", .none), ("\"", .none):
                isReplaceable = isReplaceable && word == kept
                quote = scalar == "'" ? .single : .double
            case ("'", .single), ("\"", .double):
                quote = .none
                isReplaceable = false
            case ("\\", .none), ("\\", .double):
                guard let next = rest.popFirst() else { break }
                if !unescaped(next) { append(scalar) }
                append(next)
            case (" ", .none), ("\t", .none):
                if isWord { endWord() }
                isWord = false
                continue
            case (";", .none), ("|", .none), ("&", .none), ("(", .none), ("\n", .none):
                words = []
                (word, kept, isReplaceable, isWord) = ("", "", true, false)
                continue
            default:
                append(scalar)
                if quote == .none, breaks.contains(scalar) { (kept, isReplaceable) = (word, true) }
            }
            isWord = true
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) { word.unicodeScalars.append(scalar) }

    private mutating func endWord() {
        words.append(word)
        (word, kept, isReplaceable) = ("", "", true)
    }

    /// Returns what bash inserts for a completion of the word, quoted like the word so far; nil if the completion does
    /// not begin with the word, or bash cannot insert it within the open quotes.
    func insertion(_ text: String) -> String? {
        guard isReplaceable, text.utf8.starts(with: word.utf8) else { return nil }
        let insertion = text.unicodeScalars.dropFirst(kept.unicodeScalars.count).map(quoted).joined()
        // readline takes a quote at either end for the one that it adds.
        let mark = UInt8(ascii: quote == .single ? "'" : "\"")
        let isAmbiguous = quote != .none && (insertion.utf8.first == mark || insertion.utf8.last == mark)
        return isAmbiguous ? nil : insertion
    }

    private func quoted(_ scalar: Unicode.Scalar) -> String {
        let text = String(scalar)
        if ShownText.isUnsafe(scalar) {
            let octal = "$'" + text.utf8.map { "\\" + String(Int($0) + 0o1000, radix: 8).suffix(3) }.joined() + "'"
            return switch quote {
            case .none: octal
            case .single: "'\(octal)'"
            case .double: "\"\(octal)\""
            }
        }
        switch quote {
        case .none: return scalar.isASCII && !Self.plain.contains(scalar) ? "\\" + text : text
        case .single: return scalar == "'" ? #"'\''"# : text
        // A backslash before an exclamation mark stays in double quotes.
        case .double: return scalar == "!" ? #""'!'""# : "\\\"$`".unicodeScalars.contains(scalar) ? "\\" + text : text
        }
    }

    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%=".unicodeScalars)
}
