import Foundation
import TestSupport

import PrefsPropertyLists

/// Random property lists in canonical form, with values that every format and reader supports.
package enum InteropTree {
    package static let count = Hazard.count("PREFS_TREES", default: Hazard.count(75, long: 300))

    package static func all() throws -> [[String: Any]] {
        try (1...UInt64(count)).map { try make(seed: $0) }
    }

    package static func make(seed: UInt64) throws -> [String: Any] {
        var random = SeededGenerator(seed: seed)
        var budget = 60
        let tree = dictionary(&random, depth: 0, &budget)
        return try PropertyListVetter.storedObject(of: tree).get() as? [String: Any] ?? [:]
    }

    private static func value(_ random: inout SeededGenerator, depth: Int, _ budget: inout Int) -> Any {
        budget -= 1
        switch Int.random(in: 0..<(depth < 6 && budget > 0 ? 12 : 9), using: &random) {
        case 0: return Bool.random(using: &random)
        case 1: return Int.random(in: -300...300, using: &random)
        case 2: return Int64(bitPattern: random.next()) >> Int64.random(in: 0..<63, using: &random)
        case 3: return UInt64.random(in: .min ... .max, using: &random)
        case 4: return double(&random)
        case 5, 6: return text(&random)
        case 7:
            return Data(
                (0..<Int.random(in: 0...90, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        // The years 1 to 9999, to the second.
        case 8:
            return Date(
                timeIntervalSinceReferenceDate: Double(
                    Int.random(in: -63_113_904_000..<252_423_993_600, using: &random)))
        case 9:
            return (0..<Int.random(in: 0...5, using: &random)).map { _ in value(&random, depth: depth + 1, &budget) }
        default: return dictionary(&random, depth: depth + 1, &budget)
        }
    }

    private static func dictionary(_ random: inout SeededGenerator, depth: Int, _ budget: inout Int) -> [String: Any] {
        var members: [String: Any] = [:]
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let key = text(&random)
            // Foundation would read this key back as a reference of a keyed archive.
            if key == KeyedArchiveUID.key { continue }
            members[key] = value(&random, depth: depth, &budget)
        }
        return members
    }

    private static func double(_ random: inout SeededGenerator) -> Double {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Double(Int.random(in: -1_000...1_000, using: &random)) / 10
        case 1:
            [
                0, -0.0, 1, .infinity, -.infinity, .nan, .pi, 1e22, 1e-7, .leastNonzeroMagnitude,
                .greatestFiniteMagnitude,
            ].randomElement(using: &random) ?? 0
        default: Double(bitPattern: random.next())
        }
    }

    private static let pieces: [String] = [
        "a", "Z", "9", " ", "\t", "\n", "\r", "\r\n", "<", ">", "&", "\"", "'", "]]>", "<![CDATA[", "&amp;", "&#13;",
        "é", "e\u{301}",
        "\u{7F}", "\u{85}", "\u{9B}", "\u{A0}", "\u{2028}", "\u{FFFD}", "a\u{FEFF}", "\u{E000}", "\u{1F600}",
        "\u{10FFFF}", "日本", "--", "?>",
        "CF$UID", "$null", "\u{200B}", "\u{202E}", "-->", "<?", "</string>",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        let count = Int.random(in: 0...6, using: &random)
        // Other tests cover NFC and NFD of one key in one dictionary.
        return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
}
