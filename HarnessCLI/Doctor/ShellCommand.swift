import Foundation

/// A command that may be pasted into a shell.
enum ShellCommand {
    /// The words, each quoted where the shell would take it for something else.
    static func text(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    /// A command of this program, as its user has called it.
    static func prefs(_ command: String, _ options: [String] = [], words: [String]) -> String {
        let called = CommandLine.arguments.first ?? ""
        // A word that begins with -- would be an option.
        let end = words.contains { $0.hasPrefix("--") } ? ["--"] : []
        return text([called.contains("/") ? called : "prefs", command] + options + end + words)
    }

    /// A path beside the given one under which nothing is.
    static func freePath(_ path: String, _ ending: String) -> String {
        let names = [ending] + (2...99).map { "\(ending)-\($0)" }
        return names.map { "\(path).\($0)" }.first { FileFacts($0) == nil } ?? "\(path).\(UUID().uuidString)"
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.utf8.allSatisfy { plain.contains($0) }
        if isPlain { return word }
        // Nothing may move the cursor of the terminal that this is shown on.
        guard word.printable == word else {
            let bytes = word.utf8.map { byte in
                let octal = String(byte, radix: 8)
                return plain.contains(byte)
                    ? String(UnicodeScalar(byte)) : "\\" + String(repeating: "0", count: 3 - octal.count) + octal
            }
            return "$'" + bytes.joined() + "'"
        }
        return "'" + word.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }

    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%".utf8)
}
