import Foundation
import PersistentPreferences

/// A value of about a hundred nodes, as in a program that stores its own types.
struct Tree: Codable, Equatable {
    enum Kind: String, Codable { case draft, letter, report }

    struct Author: Codable, Equatable {
        var name: String
        var mail: String?
        var born: Date?
    }

    struct Section: Codable, Equatable {
        var heading: String
        var level: Int
        var isFolded: Bool
        var paragraphs: [String]
        var marks: [String: Double]
        var note: String?
    }

    var title: String
    var kind: Kind
    var created: Date
    var changed: Date?
    var authors: [Author]
    var sections: [Section]
    var settings: [String: Int]

    static func sample(_ title: String) -> Tree {
        let day = Date(timeIntervalSinceReferenceDate: 700_000_000)
        return Tree(
            title: title, kind: .report, created: day, changed: day.addingTimeInterval(86_400),
            authors: [
                Author(name: "First Author", mail: "first@example.org", born: day), Author(name: "Second Author"),
            ],
            sections: (1...7).map(section), settings: ["zoom": 110, "columns": 2, "indent": 4])
    }

    private static func section(_ number: Int) -> Section {
        let isEven = number % 2 == 0
        let paragraphs = (1...4).map { (paragraph: Int) -> String in
            "The paragraph \(paragraph) of the section \(number), not very long."
        }
        return Section(
            heading: "Section \(number)", level: number % 3, isFolded: isEven, paragraphs: paragraphs,
            marks: ["width": 12.5 * Double(number), "height": 3.25], note: isEven ? "a note" : nil)
    }

    static let samples = [sample("one"), sample("other")]
}

final class TreePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var tree = Tree.sample("none")
}

/// An element of a list of 200.
struct Item: Codable, Equatable {
    var number: Int
    var name: String
    var weight: Double
    var isDone: Bool
    var due: Date?

    static let samples = [list(of: 200, "item"), list(of: 200, "thing")]

    private static func list(of count: Int, _ name: String) -> [Item] {
        (0..<count).map { (number: Int) -> Item in
            let due = Date(timeIntervalSinceReferenceDate: Double(number) * 3_600)
            return Item(
                number: number, name: "\(name) \(number)", weight: Double(number) / 4, isDone: number % 2 == 0,
                due: number % 3 == 0 ? due : nil)
        }
    }
}

final class ListPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var items: [Item] = []
}
