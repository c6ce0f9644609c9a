import Foundation
import PersistentPreferences

/// A command that may be pasted into a shell.
enum ShellCommand {
    /// The words, each quoted if a shell would take it for something else.
    static func text(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    /// A command of this program, as its user has called it.
    static func prefs(_ command: String, _ options: [String] = [], words: [String]) -> String {
        // A word that begins with a dash could be an option.
        let end = words.contains { $0.utf8.first == UInt8(ascii: "-") } ? ["--"] : []
        return text([program, command] + options + end + words)
    }

    private static var program: String {
        guard let argument = CommandLine.unsafeArgv[0], let called = String(validatingCString: argument),
            called.utf8.contains(UInt8(ascii: "/"))
        else { return "prefs" }
        return called
    }

    /// A path beside the given one under which nothing is.
    static func unusedPath(_ path: String, _ ending: String) -> String {
        let names = [ending] + (2...99).map { "\(ending)-\($0)" }
        return names.map { "\(path).\($0)" }.first { FileMetadata($0) == nil } ?? "\(path).\(UUID().uuidString)"
    }

    /// The word as bash, zsh and ksh read it. By scalars: a quote with a combining mark is another `Character`.
    private static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(plain.contains) { return word }
        // The octal form has no character that could drive a terminal, and no shell expands anything in it. A shell that does not
        // know the form reads it as one other word, and runs no part of it.
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

    /// Some shells expand a backslash and an exclamation mark between single quotes.
    private static func needsOctal(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\\" || scalar == "!" || ShownText.isUnsafe(scalar)
    }

    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%".utf8)
}
