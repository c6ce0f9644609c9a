import Foundation
import PersistentPreferences

/// A command that cannot be run, because a value is missing or of another type, or because a system call failed.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ description: String, at url: URL?) {
        self.description = description + (url.map { ": \($0.absoluteURL.path(percentEncoded: false))" } ?? "")
    }

    init(_ description: String, near word: String, among known: [String: StoredValue]) {
        self.description = description + Suggestion.text(word, among: known.keys.sorted())
    }
}
