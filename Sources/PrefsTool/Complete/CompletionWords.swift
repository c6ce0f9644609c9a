import Foundation
import PersistentPreferences

/// Answers the completion scripts. Errors have no text, because the user is typing.
///
/// The output is a list of texts, each ended by NUL. The first is `files` if the shell should complete the path of a
/// file as well, or `words`. The completions follow: for bash as it inserts them, for zsh with a note as the next text,
/// for fish with a note after a tab.
struct CompletionWords {
    /// The first argument of such a run. It is not a public command.
    static let commandName = "complete-words"

    let program: Program

    /// - Parameter words: `bash COUNT LINE BREAKS`, where the line ends at the cursor and its first COUNT words name
    ///   the program; or `zsh WORD …` or `fish WORD …`, where the words follow the name of the program and the last
    ///   word is before the cursor.
    func answer(_ words: [String]) -> Outcome {
        guard let shell = words.first.flatMap(Shell.init) else { return Outcome() }
        var texts: [String] = []
        let completer: WordCompleter
        if shell == .bash {
            let line = ShellLine(words[safe: 2] ?? "", breaks: words[safe: 3] ?? "")
            let before = Array(line.words.dropFirst(max(0, words[safe: 1].flatMap { Int($0) } ?? 1)))
            completer = WordCompleter(of: program, before: before, word: line.word)
            texts = completer.candidates.compactMap { line.insertion($0.text) }
        } else {
            completer = WordCompleter(of: program, before: Array(words.dropFirst().dropLast()), word: words.last ?? "")
            texts = completer.candidates.flatMap { candidate in
                let note = candidate.note.printable
                if shell == .zsh { return [candidate.text, note] }
                // fish would interpret the rest as the note, or expand the tilde.
                if candidate.text.contains("\t") || candidate.text.hasPrefix("~") { return [] }
                return [note.isEmpty ? candidate.text : "\(candidate.text)\t\(note)"]
            }
        }
        let all = [completer.mayBeFile ? "files" : "words"] + texts
        return Outcome(bytes: Data(all.map { $0 + "\0" }.joined().utf8), as: .value)
    }
}
