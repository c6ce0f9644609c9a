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
            let line = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[safe: number - 1]
        else { return nil }
        let longest = 80
        let scalars = Array(String(decoding: line, as: UTF8.self).unicodeScalars)
        let start = scalars.count > longest ? max(0, (file.column ?? 1) - longest / 2) : 0
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars.dropFirst(start).prefix(longest))
        return ShownText.line(String(text).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
