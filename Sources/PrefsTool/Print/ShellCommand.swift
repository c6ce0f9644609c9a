import Foundation
import PersistentPreferences

/// A command that can be pasted into a shell.
enum ShellCommand {
    /// Returns the words, quoted where a shell would interpret them.
    static func text(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    /// Quotes a word for bash, zsh and ksh. Works on scalars, because a quote with a combining mark is another
    /// `Character`.
    private static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(plain.contains) { return word }
        // The octal form contains no control character, and no shell expands anything in it. A shell that does not know
        // the form reads it as one different word, and runs no part of it.
        guard !word.unicodeScalars.contains(where: needsOctal) else {
            let bytes = word.utf8.map { byte in
                let octal = String(byte, radix: 8)
                return plain.contains(byte)
                    ? String(UnicodeScalar(byte)) : "\\" + String(repeating: "0", count: 3 - octal.count) + octal
            }
            return "$'" + bytes.joined() + "'"
        }
        return "'" + word.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }

    /// Some shells expand backslashes and exclamation marks between single quotes.
    private static func needsOctal(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\\" || scalar == "!" || ShownText.isUnsafe(scalar)
    }

    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%".utf8)
}
