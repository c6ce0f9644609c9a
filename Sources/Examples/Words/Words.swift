// A command-line tool that remembers its options: it prints the most frequent words of a file.
//
//     swift run Words --top 3 --min-length 5 README.md     # these options from now on
//     swift run Words CHANGELOG.md                         # the same again
//     swift run Words --forget                             # back to the defaults

import Foundation
import PersistentPreferences

final class WordsPrefs: Prefs, @unchecked Sendable {
    @Pref(.in(1...1_000)) var top = 10
    @Pref("min-length", .in(1...50)) var minLength = 1
    @Pref("ignores-case") var ignoresCase = true

    /// Takes options over; the path that may follow them.
    func take(_ arguments: [String]) throws -> String? {
        var words = arguments[...]
        while let word = words.popFirst() {
            switch word {
            case "--top": top = try Self.number(words.popFirst())
            case "--min-length": minLength = try Self.number(words.popFirst())
            case "--ignore-case": ignoresCase = true
            case "--match-case": ignoresCase = false
            case "--forget": resetAll()
            default:
                guard !word.hasPrefix("-"), words.isEmpty else { throw Refusal() }
                return word
            }
        }
        return nil
    }

    private static func number(_ word: String?) throws -> Int {
        guard let number = word.flatMap({ Int($0) }) else { throw Refusal() }
        return number
    }
}

struct Refusal: Error, CustomStringConvertible {
    let description = "usage: Words [--top N] [--min-length N] [--ignore-case | --match-case] [--forget] [FILE]"
}

func count(_ text: String, _ prefs: WordsPrefs) -> [(word: String, count: Int)] {
    let (text, minLength) = (prefs.ignoresCase ? text.lowercased() : text, prefs.minLength)
    var counts: [String: Int] = [:]
    for word in text.split(whereSeparator: { !$0.isLetter }) where word.count >= minLength {
        counts[String(word), default: 0] += 1
    }
    return counts.map { (word: $0, count: $1) }.sorted { ($1.count, $0.word) < ($0.count, $1.word) }
}

let prefs = WordsPrefs()
let arguments = Array(CommandLine.arguments.dropFirst())
do {
    var path: String?
    if arguments.contains(where: { $0.hasPrefix("-") }) {
        // Remembers all options, or none if one of them is rejected.
        path = try prefs.update { try prefs.take(arguments) }.get()
    } else {
        path = try prefs.take(arguments)
    }
    if let path {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for (word, count) in count(text, prefs).prefix(prefs.top) { print(count, word) }
    }
} catch {
    FileHandle.standardError.write(Data("Words: \(error)\n".utf8))
    exit(error is Refusal ? 64 : 1)
}
