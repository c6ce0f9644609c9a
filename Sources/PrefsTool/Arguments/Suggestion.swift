import PersistentPreferences

/// Suggests the known word that a mistyped word resembles.
enum Suggestion {
    /// Returns ": did you mean `x`?", or an empty string if no word is similar.
    static func text(_ word: String, among known: [String]) -> String {
        NearestWord.nearest(to: word, among: known).map { ": did you mean `\(ShownText.key($0))`?" } ?? ""
    }

    /// Returns the same, or refers to the help if no word is similar.
    static func textOrHelp(_ word: String, among known: [String]) -> String {
        let near = text(word, among: known)
        return near.isEmpty ? "; --help lists all" : near
    }
}
