/// Finds the known word that a mistyped word resembles.
///
/// The known words are prepared once, for any number of mistyped ones. Of most pairs, a word costs a comparison of lengths
/// and letters; only alike ones are compared letter by letter.
package struct NearestWord {
    /// A word in lower case. Letters are numbers, because `Character` is compared by far more code.
    private struct Letters {
        var numbers: [UInt32]
        /// A bit for each letter that occurs. Several letters may share a bit.
        let set: UInt64

        init(_ numbers: [UInt32]) {
            self.numbers = numbers
            set = numbers.reduce(0) { set, number in
                set | 1 << UInt64(number < 128 ? number & 31 | (number & 64) >> 1 : number & 63)
            }
        }

        /// Whether more letters differ, so that no distance has to be counted.
        func isFar(from other: Letters, beyond limit: Int) -> Bool {
            abs(numbers.count - other.numbers.count) > limit
                || (set & ~other.set).nonzeroBitCount > limit || (other.set & ~set).nonzeroBitCount > limit
        }
    }

    private let known: [(word: String, letters: Letters)]
    /// The numbers of letters outside of ASCII.
    private let others: [Character: UInt32]

    package init(among known: [String]) {
        var others: [Character: UInt32] = [:]
        self.known = known.map { word in
            let numbers = Self.numbers(of: word.lowercased()) { letter in
                let number = others[letter] ?? 128 + UInt32(others.count)
                others[letter] = number
                return number
            }
            return (word, Letters(numbers))
        }
        self.others = others
    }

    /// The word with the smallest edit distance, if the distance is small for its length.
    package func nearest(to word: String) -> String? {
        // A letter that no known word has is like no other.
        let letters = Letters(Self.numbers(of: word.lowercased()) { others[$0] ?? .max })
        let count = letters.numbers.count
        if count > Self.mostLetters { return nil }
        // A single letter resembles no other one.
        func most(_ count: Int) -> Int { max(1, count / 3) }
        var limit = most(count)
        var best: (word: String, count: Int, distance: Int)?
        var rows = Array(repeating: 0, count: 3 * (Self.mostLetters + 1))
        for (word, other) in known where limit >= 0 && other.numbers.count <= Self.mostLetters {
            guard !letters.isFar(from: other, beyond: limit),
                let distance = Self.distance(letters.numbers, other.numbers, atMost: limit, &rows)
            else { continue }
            best = (word, other.numbers.count, distance)
            // Only a smaller distance is better.
            limit = distance - 1
        }
        guard let best, best.distance <= most(min(count, best.count)), best.distance < count else { return nil }
        return best.word
    }

    /// Longer words are not typing errors, and the rows would be long.
    private static let mostLetters = 100

    /// The number of each letter: its code in ASCII, or what the closure gives.
    private static func numbers(of word: String, _ number: (Character) -> UInt32) -> [UInt32] {
        // CR and LF are one letter.
        let isPlain = word.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\r") }
        if isPlain { return word.utf8.map { UInt32($0) } }
        return word.map { $0.utf8.count == 1 ? UInt32($0.utf8.first ?? 0) : number($0) }
    }

    /// The number of letters to insert, delete, replace or swap with the next one (Damerau–Levenshtein); nil if it is
    /// above the limit. Only places near the diagonal can stay within it (Ukkonen).
    ///
    /// - Parameter rows: room for three rows of the table.
    private static func distance(
        _ left: [UInt32], _ right: [UInt32], atMost limit: Int, _ rows: inout [Int]
    ) -> Int? {
        let width = mostLetters + 1
        var (beforeLast, last, row) = (2 * width, 0, width)
        for column in 0...min(right.count, limit) { rows[last + column] = column }
        for i in stride(from: 1, through: left.count, by: 1) {
            let (start, end) = (max(1, i - limit), min(right.count, i + limit))
            rows[row + start - 1] = start == 1 ? i : limit + 1
            var least = rows[row + start - 1]
            for j in stride(from: start, through: end, by: 1) {
                let letter = left[i - 1]
                var best = min(rows[last + j - 1] + (letter == right[j - 1] ? 0 : 1), rows[row + j - 1] + 1)
                if j < i + limit { best = min(best, rows[last + j] + 1) }
                if i > 1, j > 1, letter == right[j - 2], left[i - 2] == right[j - 1] {
                    best = min(best, rows[beforeLast + j - 2] + 1)
                }
                rows[row + j] = best
                least = min(least, best)
            }
            if least > limit { return nil }
            (beforeLast, last, row) = (last, row, beforeLast)
        }
        let distance = rows[last + right.count]
        return distance <= limit ? distance : nil
    }
}
