import Foundation

/// Why a command cannot be carried out: what it asks for is not there, or is something else.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ description: String, at url: URL?) {
        self.description = description + (url.map { ": \($0.absoluteURL.path(percentEncoded: false))" } ?? "")
    }

    init(_ description: String, near word: String, among known: [String: Any]) {
        self.description = description + Suggestion.text(word, among: known.keys.sorted())
    }
}
