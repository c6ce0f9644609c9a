/// Finds the known word that a mistyped word resembles.
package enum NearestWord {
    /// The word with the smallest edit distance, if the distance is small for its length.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let word = word.lowercased()
        let distances = known.map { (word: $0, distance: distance(word, $0.lowercased())) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        // A single letter resembles no other one.
        let most = max(1, min(word.count, best.word.count) / 3)
        return best.distance <= most && best.distance < word.count ? best.word : nil
    }

    /// The number of letters to insert, delete, replace or swap with the next one (Damerau–Levenshtein).
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        // Words this long are not typing errors, and the table would be large.
        if left.count > 100 || right.count > 100 { return .max }
        var rows = [Array(0...right.count)]
        for (i, letter) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (letter == other ? 0 : 1))
                if i > 0, j > 0, letter == right[j - 1], left[i - 1] == other {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
