@testable import PrefsSupport
import PersistentPreferences
import PrefsLayers
import Testing

private enum Shade: String, CaseIterable { case light, middle, dark }

/// A type with a raw value and an order.
private struct Level: RawRepresentable, Comparable {
    let rawValue: Int

    static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
}

extension PrefOption<Int> {
    /// A kind of constraint that the developer defines.
    fileprivate static func multiple(of number: Int) -> PrefOption {
        .must(be: "a multiple of \(number)") { $0.isMultiple(of: number) }
    }
}

extension PrefOption<Int?> {
    fileprivate static func multiple(of number: Int) -> PrefOption {
        .must(be: "a multiple of \(number)") { $0.isMultiple(of: number) }
    }
}

private final class KindPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(3...)) var from = 3
    @Pref(.in(...9)) var through: Int? = nil
    @Pref(.in(0..<10)) var halfOpen = 4.5
    @Pref(.in(..<10)) var upTo: Double? = 1
    @Pref(.in(Level(rawValue: 1)...), .formerly("rank")) var level = Level(rawValue: 1)
    @Pref(.in(Level(rawValue: 1)...Level(rawValue: 3))) var grade = Level(rawValue: 1)
    @Pref(.in(Level(rawValue: 1)..<Level(rawValue: 3))) var step = Level(rawValue: 1)
    @Pref(.in([Level(rawValue: 1), Level(rawValue: 3)])) var stage = Level(rawValue: 1)
    @Pref(.must(be: "bright") { $0 != .dark }) var shade = Shade.light
    @Pref(.must(be: "bright") { $0 != .dark }) var otherShade: Shade? = nil
    @Pref(.length(1...5)) var short = "a"
    @Pref(.length(1...)) var named: String? = nil
    @Pref(.count(..<3)) var few: [Int] = []
    @Pref(.count(...1)) var shades: [Shade]? = nil
    @Pref(.count(1...2), .must(be: "sorted") { $0 == $0.sorted() }) var sorted = [1]
    @Pref(.length(..<3)) var brief = "a"
    @Pref(.length(11...)) var long: String? = nil
    @Pref(.count(...21)) var many: [Int] = []
    @Pref(.count(..<1)) var nothing: [Int] = []
    @Pref(.pattern("[a-z]+|x1")) var word = "a"
    @Pref(.in(8...72), .must(be: "even") { $0.isMultiple(of: 2) }) var both = 12
    @Pref(.length(1...20), .pattern("[a-z]+")) var identifier: String? = nil
    @Pref(.in(8...72), .multiple(of: 3), .check { $0 == 9 ? "must not be 9" : nil }) var three: Int? = nil
    @Pref(.in(8...72), .formerly("old"), .check { $0 == 13 ? "must not be 13" : nil }) var checked = 12
    @Pref(.in(["a", "b"]), .check { $0 == nil ? "must be given" : nil }) var given: String? = "a"
    @Pref(.in(["", "a, b", "c"])) var quoted = "c"
    @Pref(.in("a"..."m")) var letter = "b"
    @Pref(.in([])) var none: Int? = nil
    @Pref(.must(be: "") { $0 > 0 }) var wordless = 1
    @Pref(.check { $0 == 1 ? "" : nil }) var silent = 0
    @Pref(.must(be: "five") { $0 == 5 }) var five: Int? = nil
    @Pref(.must(be: "even") { $0.isMultiple(of: 2) }) var even = 2
    @Pref(
        .length(...3), .check { $0 == "b" ? "must not be b" : nil },
        coding: PrefCoding(encode: { $0 }, decode: { $0 as? String }))
    var coded = "a"
}

@Suite struct ConstraintKindTests {
    private let prefs = KindPrefs(store: .memory())

    private static let valid: [(key: String, values: [any Sendable])] = [
        ("from", [3, Int.max]), ("through", [9, Int.min]), ("halfOpen", [0, 9.999]), ("upTo", [-1, 9.999]),
        ("level", [1, 7]), ("grade", [1, 3]), ("step", [2]), ("stage", [3]), ("sorted", [[1], [1, 2]]),
        ("brief", ["", "ab"]), ("long", ["abcdefghijk"]), ("many", [Array(0..<21)]), ("nothing", [[Int]()]),
        ("shade", ["middle"]), ("otherShade", ["light"]), ("short", ["a", "abcde", "👨‍👩‍👧e\u{301}"]), ("named", ["a"]),
        ("few", [[Int](), [1, 2]]), ("shades", [["dark"]]), ("word", ["abc", "x1"]), ("both", [8, 72]),
        ("identifier", ["abc"]), ("three", [12, 72]), ("checked", [8, 72]), ("given", ["b"]), ("quoted", ["", "a, b"]),
        ("letter", ["m"]), ("wordless", [2]), ("five", [5]), ("even", [4]), ("silent", [2]), ("coded", ["ccc"]),
    ]

    private static let invalid: [(key: String, value: any Sendable, reason: String)] = [
        ("from", 2, "must be at least 3"), ("through", 10, "must be at most 9"),
        ("halfOpen", 10, "must be in 0.0..<10.0"), ("halfOpen", Double.nan, "must be in 0.0..<10.0"),
        ("upTo", 10, "must be less than 10.0"), ("upTo", Double.nan, "must be less than 10.0"),
        ("level", 0, "must be at least 1"), ("grade", 4, "must be in 1...3"), ("step", 3, "must be in 1..<3"),
        ("stage", 2, "must be one of 1, 3"), ("shade", "dark", "must be bright"),
        ("otherShade", "dark", "must be bright"),
        ("short", "", "must be 1...5 characters long"), ("short", "abcdef", "must be 1...5 characters long"),
        ("named", "", "must be at least 1 character long"), ("few", [1, 2, 3], "must have fewer than 3 elements"),
        ("shades", ["dark", "light"], "must have at most 1 element"),
        ("sorted", [Int](), "must have 1...2 elements and be sorted"),
        ("sorted", [2, 1], "must have 1...2 elements and be sorted"),
        ("brief", "abc", "must be fewer than 3 characters long"),
        ("long", "abc", "must be at least 11 characters long"),
        ("many", Array(0..<22), "must have at most 21 elements"), ("nothing", [1], "must have fewer than 1 element"),
        ("word", "", "must be of the form [a-z]+|x1"), ("word", "abc1", "must be of the form [a-z]+|x1"),
        ("word", "1abc", "must be of the form [a-z]+|x1"), ("word", "abc\n", "must be of the form [a-z]+|x1"),
        ("both", 9, "must be in 8...72 and even"), ("both", 74, "must be in 8...72 and even"),
        ("identifier", "", "must be 1...20 characters long and of the form [a-z]+"),
        ("identifier", "A", "must be 1...20 characters long and of the form [a-z]+"),
        ("three", 10, "must be in 8...72 and a multiple of 3"), ("three", 9, "must not be 9"),
        ("three", 3, "must be in 8...72 and a multiple of 3"),
        ("checked", 13, "must not be 13"), ("checked", 73, "must be in 8...72"),
        ("given", "c", "must be one of a, b"), ("quoted", "d", "must be one of \"\", \"a, b\", c"),
        ("letter", "z", "must be in a...m"), ("none", 1, "must be one of an empty list"),
        ("wordless", 0, "must be accepted by a check"), ("five", 4, "must be five"), ("even", 3, "must be even"),
        ("silent", 1, "must be accepted by a check"), ("coded", "cccc", "must be at most 3 characters long"),
        ("coded", "b", "must not be b"),
    ]

    @Test func aValueThatSatisfiesEveryConstraintIsStored() {
        for (key, values) in Self.valid {
            for value in values {
                prefs[key] = value
                #expect(prefs.outcome == "ok", "\(key) = \(value)")
            }
        }
        #expect(prefs.halfOpen == 9.999 && prefs.level.rawValue == 7 && prefs.otherShade == .light && prefs.three == 72)
        #expect(prefs.short == "👨‍👩‍👧e\u{301}" && prefs.shades == [.dark] && prefs.identifier == "abc")
    }

    @Test func aValueThatViolatesOneConstraintIsRejectedWithTheWordsOfAll() {
        for (key, value, reason) in Self.invalid {
            prefs[key] = value
            #expect(prefs.outcome == "\(key): \(reason)", "\(key) = \(value)")
        }
        #expect(prefs.values.count == 0)
    }

    @Test func nilIsValidExceptForACheckThatRejectsIt() {
        for (key, value): (String, any Sendable) in [
            ("through", 9), ("upTo", 1.0), ("otherShade", "light"), ("named", "a"), ("shades", ["dark"]),
            ("identifier", "a"),
            ("three", 12), ("given", "b"),
        ] { prefs[key] = value }
        let errors = [
            prefs.$through.set(nil), prefs.$upTo.set(nil), prefs.$otherShade.set(nil), prefs.$named.set(nil),
            prefs.$shades.set(nil), prefs.$identifier.set(nil), prefs.$three.set(nil), prefs.$none.set(nil),
        ]
        #expect(errors.allSatisfy { $0 == nil } && Array(prefs.values.keys) == ["given"])
        #expect(prefs.$given.set(nil).map { "\($0)" } == "given: must be given" && prefs.given == "b")
    }

    /// A closure that would also fit an optional makes no property one.
    @Test func aConditionDoesNotChangeTheTypeOfItsProperty() {
        let handles = [prefs.$even, prefs.$both, prefs.$silent, prefs.$wordless]
        #expect(handles.map(\.defaultValue) == [2, 12, 0, 1])
        #expect(prefs.$five.set(nil) == nil && prefs.five == nil, "nil satisfies it")
    }

    @Test func constraintsAreDescribedTogether() {
        let words = Dictionary(uniqueKeysWithValues: prefs.describe().map { ($0.name, $0.constraint) })
        #expect(words["both"] == "in 8...72 and even" && words["checked"] == "in 8...72 and accepted by a check")
        #expect(words["three"] == "in 8...72 and a multiple of 3 and accepted by a check")
        #expect(words["identifier"] == "1...20 characters long and of the form [a-z]+")
        #expect(words["few"] == "fewer than 3 elements" && words["sorted"] == "1...2 elements and sorted")
        #expect(words["level"] == "at least 1" && words["wordless"] == "accepted by a check")
    }

    @Test func aPatternMatchesOnEveryThreadAndEachCallReturnsItsOwnError() {
        let prefs = prefs
        inThreads(8) { number in
            for round in 0..<200 {
                let isGood = (round + number).isMultiple(of: 2)
                #expect((prefs.$word.set(isGood ? "abc" : "\(number)") == nil) == isGood)
            }
        }
    }
}
