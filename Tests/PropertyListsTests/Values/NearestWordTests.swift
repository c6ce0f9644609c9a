import PrefsPropertyLists
import TestSupport
import Testing

/// The word that a mistyped one resembles, by a whole table of distances.
private func nearestByTable(to word: String, among known: [String]) -> String? {
    func distance(_ left: [Character], _ right: [Character]) -> Int {
        if left.count > 100 || right.count > 100 { return .max }
        var table = [[Int]](repeating: Array(0...right.count), count: left.count + 1)
        for i in left.indices {
            table[i + 1][0] = i + 1
            for j in right.indices {
                var best = min(table[i][j + 1], table[i + 1][j]) + 1
                best = min(best, table[i][j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, table[i - 1][j - 1] + 1)
                }
                table[i + 1][j + 1] = best
            }
        }
        return table[left.count][right.count]
    }
    let letters = Array(word.lowercased())
    let distances = known.map { distance(letters, Array($0.lowercased())) }
    guard let least = distances.min(), let best = distances.firstIndex(of: least) else { return nil }
    let most = max(1, min(letters.count, known[best].count) / 3)
    return least <= most && least < letters.count ? known[best] : nil
}

@Suite struct NearestWordTests {
    @Test func theAnswersAreThoseOfAWholeTable() {
        var random = SeededGenerator(seed: 86)
        let letters: [Character] = ["a", "b", "c", "d", "A", "B", "1", "2", "_", "é", "É", "\r\n", "日"]
        func word(_ length: ClosedRange<Int>) -> String {
            // Few letters, so that many words are alike.
            let end = Int.random(in: 3...letters.count, using: &random)
            let count = Int.random(in: length, using: &random)
            return String((0..<count).map { _ in letters[Int.random(in: 0..<end, using: &random)] })
        }
        var found = 0
        for round in 0..<3_000 {
            let length = round % 50 == 0 ? 90...110 : 0...12
            let known = (0..<Int.random(in: 0...12, using: &random)).map { _ in word(length) }
            let words = NearestWord(among: known)
            for _ in 0..<4 {
                var mistyped = Array(known.randomElement(using: &random) ?? word(length))
                for _ in 0..<Int.random(in: 0...4, using: &random) where !mistyped.isEmpty {
                    let place = mistyped.indices.randomElement(using: &random) ?? 0
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: mistyped.remove(at: place)
                    case 1: mistyped.insert("x", at: place)
                    case 2: mistyped[place] = "d"
                    default: mistyped.swapAt(place, min(place + 1, mistyped.count - 1))
                    }
                }
                let nearest = words.nearest(to: String(mistyped))
                #expect(nearest == nearestByTable(to: String(mistyped), among: known), "\(mistyped) among \(known)")
                found += nearest == nil ? 0 : 1
            }
        }
        #expect(found > 4_000, "\(found)")
    }

    @Test func theFirstOfTwoEquallyNearWordsCounts() {
        #expect(NearestWord(among: ["color1", "color2"]).nearest(to: "color3") == "color1")
        #expect(NearestWord(among: ["color2", "color1"]).nearest(to: "color3") == "color2")
    }

    /// An "ö" that one program writes as one scalar, and another one as two, is one letter.
    @Test func spellingsOfALetterAreOneLetter() {
        #expect(NearestWord(among: ["gro\u{308}sse"]).nearest(to: "Gr\u{F6}se") == "gro\u{308}sse")
    }
}
