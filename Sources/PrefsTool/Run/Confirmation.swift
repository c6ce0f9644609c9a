import Foundation
import PersistentPreferences

/// Asks before something is lost.
struct Confirmation {
    let program: Program
    /// True if the user has given `--force`.
    let isForced: Bool

    /// - Throws: `CommandError` if the user declines, or if there is no terminal to ask on.
    func require(_ risks: Risks) throws(CommandError) {
        guard !isForced, !risks.texts.isEmpty else { return }
        let text = risks.texts.joined(separator: "; ")
        let context = program.context
        guard isatty(context.input) == 1, isatty(context.errors) == 1 else {
            throw CommandError("\(text); --force does it; nothing has changed")
        }
        context.writeError("\(program.name): \(text.printable). Continue? [y/N] ")
        guard let answer = try? context.readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandError("nothing has changed")
        }
    }
}
