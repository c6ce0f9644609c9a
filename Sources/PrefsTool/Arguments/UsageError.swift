import PersistentPreferences
import PrefsPropertyLists

/// Arguments that are not understood. The description is one line, which says how to correct them.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Suggests the known word that a mistyped word resembles.
enum Suggestion {
    /// Returns "; did you mean `x`?", or an empty string if no word is similar.
    static func text(_ word: String, among known: [String]) -> String {
        NearestWord.nearest(to: word, among: known).map { "; did you mean `\(ShownText.key($0))`?" } ?? ""
    }

    /// Returns the suggestion, or refers to the help if no word is similar.
    static func textOrHelp(_ word: String, among known: [String]) -> String {
        let near = text(word, among: known)
        return near.isEmpty ? "; --help lists all" : near
    }
}
