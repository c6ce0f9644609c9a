import Foundation
import PersistentPreferences

/// A command that can be pasted into a shell.
enum ShellCommand {
    /// Returns the words, quoted where a shell would interpret them.
    static func text(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    /// Returns a command of the program, which is named as in the current call; nil if it does not have the command.
    static func text(of program: Program, _ command: String, _ options: [String] = [], words: [String]) -> String? {
        guard program.hasCommand(command) else { return nil }
        // A word that begins with a dash could be taken for an option.
        let end = words.contains { $0.utf8.first == UInt8(ascii: "-") } ? ["--"] : []
        return text(called(program) + [command] + options + end + words)
    }

    private static func called(_ program: Program) -> [String] {
        let words = program.name.split(separator: " ").map(String.init)
        guard let called = program.context.executable, called.utf8.contains(UInt8(ascii: "/")) else { return words }
        return [called] + words.dropFirst()
    }

    /// Returns the path with an ending that no existing file has.
    static func unusedPath(_ path: String, _ ending: String) -> String {
        let names = [ending] + (2...99).map { "\(ending)-\($0)" }
        return names.map { "\(path).\($0)" }.first { FileMetadata($0) == nil } ?? "\(path).\(UUID().uuidString)"
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
