@testable import PrefsSupport
import Foundation
import Testing

@testable import PrefsPropertyLists

/// A stored value is read back as an equal value: type × store × shape.
@Suite struct RoundTripTests {
    /// Encodes itself as something other than its raw value.
    private struct Degree: RawRepresentable, Codable, Equatable {
        var rawValue: Int

        init(rawValue: Int) { self.rawValue = rawValue }

        init(from decoder: any Decoder) throws {
            rawValue = try decoder.singleValueContainer().decode([String: Int].self)["degree"] ?? 0
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(["degree": rawValue])
        }
    }

    @Test func aRawValueIsReadAsItsTypeEncodesIt() throws {
        let values = [Degree(rawValue: 3), Degree(rawValue: 5)]
        let coding = PrefCoding(rule: [Degree].self)
        #expect(try coding.value(of: StoredValueEncoder.value(of: values)) == values)
        #expect(try coding.stored(for: values) == .array([.integer(3), .integer(5)]))
        #expect(try coding.value(of: .array([.integer(3), .dictionary(["degree": .integer(5)])])) == values)
    }

    /// A dictionary, without a base if it has none.
    @Test(arguments: [("https://a.org/b?c", nil), ("b", nil), ("../b", "https://a.org/c/")] as [(String, String?)])
    func aURLOfFoundationsEncoderIsRead(_ text: String, _ base: String?) throws {
        let url = try #require(URL(string: text, relativeTo: base.flatMap { URL(string: $0) }))
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let stored = try PropertyListCoder.decode(encoder.encode([url])).value.array?.first
        let read = try PrefCoding(rule: URL.self).value(of: #require(stored))
        #expect(read == url && read.relativeString == text && read.baseURL?.absoluteString == base)
    }

    /// The usual form stores each type in half of the kinds of store.
    private static let table = RoundTripCase.all.enumerated().flatMap { number, testCase in
        Hazard.each(2, of: StoreKind.allCases, from: number).map { (testCase, $0) }
    }

    @Test(arguments: table)
    func aValueSurvives(_ testCase: RoundTripCase, on kind: StoreKind) throws {
        try testCase.run(kind)
    }
}

/// One row of the table of types.
struct RoundTripCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let run: @Sendable (StoreKind) throws -> Void

    private init(_ name: String, run: @escaping @Sendable (StoreKind) throws -> Void) {
        testDescription = name
        self.run = run
    }

    /// The values that a store can hold. XML cannot hold texts with control characters, or dates out of range.
    private static func held<Value>(_ values: [Value], by kind: StoreKind) -> [Value] {
        kind == .xml ? values.filter(isInXML) : values
    }

    private static func isInXML(_ value: Any) -> Bool {
        switch value {
        case let text as String: ModelText(text).isInXML
        case let date as Date: ModelValue.date(date.timeIntervalSinceReferenceDate).isInXML(replacing: nil)
        default: true
        }
    }

    private static func full<Value: Codable & Hashable & Sendable>(
        _ values: Value..., inXML: @escaping @Sendable (Value) -> Value = { $0 },
        isSame: @escaping @Sendable (Value, Value) -> Bool = { $0 == $1 }
    ) -> RoundTripCase {
        full(all: values, inXML: inXML, isSame: isSame)
    }

    private static func full<Value: Codable & Hashable & Sendable>(
        all values: [Value], inXML: @escaping @Sendable (Value) -> Value = { $0 },
        isSame: @escaping @Sendable (Value, Value) -> Bool = { $0 == $1 }
    ) -> RoundTripCase {
        RoundTripCase("\(Value.self)") { kind in
            let trip = RoundTrip(values: held(values, by: kind), isSame: isSame, inXML: inXML)
            try trip.run(on: kind)
            try trip.runAsSet(on: kind)
            try trip.runAsMember(on: kind)
        }
    }

    /// A case for values that are not Codable.
    private static func plain<Value: Hashable & Sendable>(_ values: Value...) -> RoundTripCase {
        RoundTripCase("\(Value.self)") { kind in
            let trip = RoundTrip(values: held(values, by: kind), isSame: ==)
            try trip.run(on: kind)
            try trip.runAsSet(on: kind)
        }
    }

    /// A case for values without a type.
    private static func any<Value>(_ values: @escaping @Sendable () -> [Value]) -> RoundTripCase {
        RoundTripCase("\(Value.self)") { try RoundTrip(values: values(), isSame: same).run(on: $0) }
    }

    private static func integer<I: FixedWidthInteger & Codable & Sendable>(_ type: I.Type) -> RoundTripCase {
        full(I.max, I.min, 0, 1, I.max - 1)
    }

    static var all: [RoundTripCase] { scalars + texts + raws + codables + untyped }

    @Rows private static var scalars: [RoundTripCase] {
        full(true, false)
        integer(Int.self)
        integer(Int8.self)
        integer(Int16.self)
        integer(Int32.self)
        integer(Int64.self)
        integer(UInt.self)
        integer(UInt8.self)
        integer(UInt16.self)
        integer(UInt32.self)
        integer(UInt64.self)
        full(
            0.1, -0.0, 0, 1, .pi, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
            9_007_199_254_740_991, 4, 1e22, isSame: { $0.bitPattern == $1.bitPattern })
        full(
            Float(0.1), -0.0, 0, 1, .pi, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
            isSame: { $0.bitPattern == $1.bitPattern })
        RoundTripCase("NaN") { kind in
            try RoundTrip(values: [Double.nan], isSame: { $0.isNaN && $1.isNaN }).run(on: kind)
            try RoundTrip(values: [Float.nan], isSame: { $0.isNaN && $1.isNaN }).run(on: kind)
        }
        full(
            Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSinceReferenceDate: -0.25), .distantPast,
            .distantFuture, Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7),
            inXML: {
                Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate.rounded(.down))
            })
        full(Data(), Data([0, 255, 1]), Data("$null".utf8), Data(repeating: 7, count: 300))
    }

    @Rows private static var texts: [RoundTripCase] {
        full(
            "a", "", "$null", "$$null", "$$$null", "$", "$$", "null", "$nullx", "\u{FEFF}b", "\u{E9}", "e\u{301}x",
            "\u{0}", "\r\n", "<&>", "\u{1F600}", isSame: { $0.utf8.elementsEqual($1.utf8) })
        full(
            all: urls,
            isSame: { $0 == $1 && $0.relativeString == $1.relativeString && $0.baseURL == $1.baseURL })
        full(UUID(), UUID())
        full(
            all: decimals,
            // NaN differs from every number, and the case treats NaN as equal to NaN.
            isSame: { $0.isNaN ? $1.isNaN : $0 == $1 && $0.description == $1.description })
    }

    @Rows private static var raws: [RoundTripCase] {
        plain(Suit.hearts, .spades)
        plain(Level.low, .high)
        full(Mood.calm, .nothing)
        full(Rank.second, .first)
        plain(Options(), Options.a, Options.both, Options(rawValue: UInt64.max))
        plain(Stamp(rawValue: .distantFuture))
        plain(Path(rawValue: ["a", "$null"]), Path(rawValue: []))
        plain(Outer(rawValue: .spades))
        plain([Suit.hearts: 1, .spades: 2])
        plain([Suit.hearts, .hearts])
        plain([Mood.nothing: Suit.spades])
        plain(Maybe(rawValue: nil), Maybe(rawValue: "$null"), Maybe(rawValue: "a"))
    }

    @Rows private static var codables: [RoundTripCase] {
        full(Person(name: "$null", quest: "", age: .min))
        full(Shape.dot, .circle(radius: 0.1), .named("$null", [.dot]))
        full([1: "a", -2: "$null"])
        full([UUID(): 1, UUID(): 2])
        full([Mood.calm: [Mood.nothing]])
        full(Word(text: "$null"), Word(text: "$$null"))
        full([Set(["a"]), []])
        full(Date(timeIntervalSinceReferenceDate: 0)..<Date.distantFuture)
        full(Held(Tree(name: "a", children: [Tree(name: "b", children: [])])))
    }

    @Rows private static var untyped: [RoundTripCase] {
        any { [["a": 1, "b": [true, "$null", 2.5, ["c": Data([1])]], "": "x"], [:]] as [[String: Any]] }
        any { [[1, "a", [String: Any](), [Any](), UInt64.max, -0.0, 1.0, true], []] as [[Any]] }
    }

    private static func same(_ left: Any, _ right: Any) -> Bool {
        guard case .success(let left) = PropertyListVetter.storedObject(of: left) else { return false }
        return exactForm(left) == exactForm(right)
            || (try? exactForm(PropertyListVetter.storedObject(of: right).get())) == exactForm(left)
    }

    private static let urls: [URL] = [
        url("https://example.org/a?b=c#d"), URL(fileURLWithPath: "/a b/\u{E9}"), url("mailto:a@example.org"),
        url("d%20e?f=%26", relativeTo: url("https://example.org/c/")), url("$null"), url("a%2Fb"),
        URL(fileURLWithPath: "x y", relativeTo: URL(fileURLWithPath: "/z/", isDirectory: true)),
    ]

    private static func url(_ text: String, relativeTo base: URL? = nil) -> URL {
        URL(string: text, relativeTo: base) ?? URL(fileURLWithPath: "/not a URL")
    }

    private static let decimals: [Decimal] = [
        decimal("12345678901234567890123456789012345678"), decimal("-0.1"), Decimal(0), decimal("1.10"), Decimal(1000),
        decimal("0.12345678901234567890123456789012345678"), Decimal.greatestFiniteMagnitude,
        -Decimal.greatestFiniteMagnitude, Decimal.leastNonzeroMagnitude, Decimal.nan,
        Decimal(sign: .minus, exponent: -128, significand: 7),
    ]

    private static func decimal(_ text: String) -> Decimal {
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) ?? .nan
    }
}

/// Builds the rows one by one, so that the compiler checks them separately.
@resultBuilder private enum Rows {
    static func buildBlock(_ rows: RoundTripCase...) -> [RoundTripCase] { rows }
}

private enum Suit: String { case hearts, spades = "$null" }
private enum Level: Int { case low = -1, high = 1 }
private enum Mood: String, Codable { case calm, nothing = "$null" }
private enum Rank: UInt8, Codable { case first = 1, second = 255 }

private struct Options: OptionSet, Hashable {
    let rawValue: UInt64
    static let a = Options(rawValue: 1)
    static let both = Options(rawValue: 3)
}

private struct Stamp: RawRepresentable, Hashable { let rawValue: Date }
private struct Path: RawRepresentable, Hashable { let rawValue: [String] }
private struct Outer: RawRepresentable, Hashable { let rawValue: Suit }
private struct Maybe: RawRepresentable, Hashable { let rawValue: String? }

private enum Shape: Codable, Hashable {
    case dot
    case circle(radius: Double)
    case named(String, [Shape])
}

/// One text, without a container around it.
private struct Word: Codable, Hashable {
    let text: String

    init(text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A class whose values contain each other.
private final class Tree: Codable, Hashable, Sendable {
    let name: String
    let children: [Tree]

    init(name: String, children: [Tree]) {
        self.name = name
        self.children = children
    }

    static func == (left: Tree, right: Tree) -> Bool {
        left.name == right.name && left.children == right.children
    }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private struct Person: Codable, Hashable { let name: String, quest: String, age: Int }
