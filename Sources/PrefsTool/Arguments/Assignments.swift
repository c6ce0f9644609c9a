import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// The values of a `set` command.
enum Assignments {
    /// Parses `KEY VALUE`, `KEY=VALUE …` or, with a file, `KEY`. A VALUE `-` is standard input, without its last line
    /// end.
    ///
    /// - Parameter input: the descriptor of the standard input.
    /// - Throws: `UsageError`.
    static func parse(
        _ words: [String], file: String?, input: Int32
    ) throws(UsageError) -> [(key: String, text: String)] {
        if let file {
            guard words.count == 1 else { throw UsageError("--from takes the place of VALUE: set KEY --from PATH") }
            return [(words[0], try contents(file, input: input))]
        }
        if words.count == 2, parts(of: words[1]) == nil || parts(of: words[0]) == nil {
            return [(words[0], words[1] == "-" ? try contents(nil, input: input) : words[1])]
        }
        return try words.map { word throws(UsageError) in
            guard let assignment = parts(of: word) else {
                throw words.count == 1
                    ? UsageError("too few arguments for `set`: set KEY VALUE")
                    : UsageError(
                        "expected KEY=VALUE, found \"\(ShownText.key(word))\" (quote a value that contains spaces)")
            }
            return assignment
        }
    }

    private static func parts(of word: String) -> (key: String, text: String)? {
        let parts = word.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty ? (String(parts[0]), String(parts[1])) : nil
    }

    /// The text of a file, or of the standard input, without its last line end.
    static func contents(_ file: String?, input: Int32) throws(UsageError) -> String {
        let bytes: Data
        do throws(StorageFailure) {
            bytes = try ExportFile.read(file.flatMap { $0 == "-" ? nil : $0 }?.absolutePath, orInput: input)
        } catch {
            throw UsageError("\(error)")
        }
        guard let text = String(validUTF8: bytes) else {
            throw UsageError("\(file ?? "standard input") is not valid UTF-8")
        }
        return text.utf8.last == UInt8(ascii: "\n") ? String(text.unicodeScalars.dropLast()) : text
    }
}
