import Foundation
import PersistentPreferences

/// Asks before something is lost.
struct Confirmation {
    let program: String
    /// True if the user has given `--force`.
    let isForced: Bool

    /// - Throws: `CommandError` if the user declines, or if there is no terminal to ask on.
    func require(_ risks: Risks) throws(CommandError) {
        guard !isForced, !risks.texts.isEmpty else { return }
        let text = risks.texts.joined(separator: "; ")
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw CommandError("\(text); --force does it; nothing has changed")
        }
        try? FileHandle.standardError.write(contentsOf: Data("\(program): \(text.printable). Continue? [y/N] ".utf8))
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandError("nothing has changed")
        }
    }
}
