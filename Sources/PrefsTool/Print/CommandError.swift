import Foundation
import PersistentPreferences
import PrefsPropertyLists

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

extension CommandError {
    /// Creates the error of a rejected write to a damaged file. The write would quarantine a person's edit, so the
    /// error shows the line to correct.
    ///
    /// - Parameter showsLine: false if the line may contain a secret.
    init(damaged file: MalformedFile, showsLine: Bool = true) {
        let line = showsLine ? Self.line(of: file) : nil
        let correction = line.map { "correct the line `\($0)`, or " } ?? (file.line == nil ? "" : "correct it, or ")
        self.init(
            "\(file.place); \(correction)--force quarantines the file and starts from \(file.state); nothing has changed"
        )
    }

    /// The line of the fault. A long line is shortened to the text around the column.
    static func line(of file: MalformedFile) -> String? {
        guard let number = file.line, let bytes = try? ExportFile.read(file.path),
            let line = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .dropFirst(number - 1).first
        else { return nil }
        let longest = 80
        let scalars = Array(String(decoding: line, as: UTF8.self).unicodeScalars)
        let start = scalars.count > longest ? max(0, (file.column ?? 1) - longest / 2) : 0
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars.dropFirst(start).prefix(longest))
        return ShownText.line(String(text).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}

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
        NearestWord(among: known).nearest(to: word).map { "; did you mean `\(ShownText.key($0))`?" } ?? ""
    }

    /// Returns the suggestion, or refers to the help if no word is similar.
    static func textOrHelp(_ word: String, among known: [String]) -> String {
        let near = text(word, among: known)
        return near.isEmpty ? "; --help lists all" : near
    }
}
