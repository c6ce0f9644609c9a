@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import PersistentPreferences
@testable import PrefsPropertyLists

private struct Failure: Error {}

/// Fails to be encoded or decoded in different ways, with its secret in the error.
private struct Trouble: Codable {
    enum Kind: String, Codable { case plain, invalid, none, decoding }
    var kind: Kind
    var secret = "secret"

    init(_ kind: Kind) { self.kind = kind }

    func encode(to encoder: any Encoder) throws {
        switch kind {
        case .plain: throw Failure()
        case .invalid, .decoding:
            throw EncodingError.invalidValue(
                secret, .init(codingPath: encoder.codingPath, debugDescription: "cannot encode \(secret)"))
        case .none: break
        }
    }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        kind = .decoding
        if text == "plain" { throw Failure() }
        throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no \(text)"))
    }
}

private final class Link: Codable {
    var next: Link?
    var others: [Link]?
    var date: Date?
    var trouble: Trouble?
}

private struct Friend: Codable {
    var name: String
    var age: Int
    var home: Home? = nil
}

private struct Home: Codable {
    var rooms: [String: [Double]] = [:]
    var id = UUID()
}

/// Fails after a part that it can do without has failed.
private struct Careful: Codable {
    private enum CodingKeys: CodingKey { case trouble, number }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        _ = try? container.decode(Trouble.self, forKey: .trouble)
        _ = try container.decode(Int.self, forKey: .number)
        throw Failure()
    }

    func encode(to encoder: any Encoder) throws {}
}

private struct Owner: Codable { var friends: [Friend?] = [] }

private enum Color: String, Codable { case red }

private struct Few: RawRepresentable, CaseIterable {
    static var allCases: [Few] { (1...20).compactMap(Few.init) }
    let rawValue: Int

    init?(rawValue: Int) {
        guard (1...20).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }
}

private struct Many: RawRepresentable, CaseIterable {
    static var allCases: [Many] { (1...21).compactMap(Many.init) }
    let rawValue: Int

    init?(rawValue: Int) {
        guard (1...21).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }
}

private final class ErrorPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var byte: UInt8 = 0
    @Pref var ratio: Float = 0
    @Pref var careful: [Careful] = []
    @Pref var owner: Owner? = nil
    @Pref var owners: [String: [Owner]] = [:]
    @Pref var colors: [[Color]] = []
    @Pref var ages: [String: Int?] = [:]
    @Pref var urls: Set<URL> = []
    @Pref var link: Held<Link>? = nil
    @Pref var links: [String: [Held<Link>]] = [:]
    @Pref var troubles: [Trouble] = []
    @Pref var date = Date(timeIntervalSinceReferenceDate: 0)
    @Pref(coding: PrefCoding<Int>(encode: { _ in throw Failure() }, decode: { _ in throw Failure() })) var own = 0
    @Pref(coding: PrefCoding<Int>(encode: { _ in URL(fileURLWithPath: "/") }, decode: { _ in nil })) var odd = 0
}

private struct Card: Codable {
    var limits: [Double] = []
    var until: Date?
}

private final class SecretPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.sensitive) var card = Card()
    @Pref(.sensitive, .check { $0.isEmpty ? nil : "must be empty" }) var cards: [Card] = []
    @Pref var shown = Card()
}

/// Errors name the path, and never a value.
@Suite struct CodingErrorTests {
    private static var friend: [String: Any] { ["name": "secret", "age": 1] }

    /// The messages, each of which begins with the key, and the stored values.
    private static var mismatches: KeyValuePairs<String, Any> {
        [
            "owner: expected Dictionary<String, Any>, found a string": "secret",
            "owner.friends: expected Array<Any>, found a dictionary": ["friends": ["secret": 1]],
            "owner: the key \"friends\" is missing": [:] as [String: Any],
            "owner.friends[2].age: expected Int, found a string":
                ["friends": [friend, "$null", ["name": "secret", "age": "secret"]] as [Any]],
            "owner.friends[0].name: expected String, found an integer": ["friends": [["name": 7, "age": 1]]],
            "owner.friends[0].age: expected Int, found a real number": ["friends": [["name": "secret", "age": 1.5]]],
            "owner.friends[0].age: expected Int, found a Boolean": ["friends": [["name": "secret", "age": true]]],
            "owner.friends[0]: the key \"age\" is missing": ["friends": [["name": "secret"]]],
            "owner.friends[0].name: expected String, found no value": ["friends": [["name": "$null", "age": 1]]],
            "owner.friends[0].home.rooms.a[1]: expected Double, found a string":
                ["friends": [["name": "", "age": 1, "home": ["rooms": ["a": [1, "secret"]] as [String: Any]]]]],
            "owner.friends[0].home.id: the stored value is not a valid UUID":
                ["friends": [["name": "", "age": 1, "home": ["rooms": [:], "id": "secret"] as [String: Any]]]],
            "owners.a[1].friends[1]: expected Dictionary<String, Any>, found data":
                ["a": [["friends": [Any]()], ["friends": [friend, Data()] as [Any]]]],
            "colors[1][1]: expected Color, found an unknown raw value": [["red"], ["red", "secret"]],
            "colors[1]: expected Array<Color>, found an integer": [["red"], 5] as [Any],
            "ages.b: expected Int, found a date": ["a": "$null", "b": Date.distantPast] as [String: Any],
            "ages.a: expected Int (\(Int.min)...\(Int.max)), found an integer out of its range": ["a": UInt64.max],
            "byte: expected UInt8 (0...255), found an integer out of its range": 300,
            "ages.c: expected Int (\(Int.min)...\(Int.max)), found a real number out of its range": ["c": -1e300],
            "ages.d: expected Int (\(Int.min)...\(Int.max)), found a real number out of its range": ["d": 0x1p63],
            "ages.e: expected Int, found a real number": ["e": -0.5],
            "byte: expected UInt8 (0...255), found an integer out of its range": -1,
            "byte: expected UInt8 (0...255), found a real number out of its range": -0.5,
            "ratio: expected Float, found a real number out of its range": 1e300,
            "ratio: expected Float, found a real number out of its range": 1e-300,
            "ratio: expected Float, found a real number with more digits than a Float has": 0.123456789,
            "careful[0]: the stored value is not a valid Careful": [["trouble": "plain", "number": 1]],
            "urls[1]: expected URL, found an integer": ["a", 1] as [Any],
            "troubles[0]: the stored value is not a valid Trouble": ["secret"],
            "troubles[0]: the stored value is not a valid Trouble": ["plain"],
            "link.next.trouble: the stored value is not a valid Trouble": ["next": ["trouble": "plain"]],
            "link.next.trouble: the stored value is not a valid Trouble": ["next": ["trouble": "secret"]],
            "own: the stored value is not a valid Int": 5,
            "odd: expected Int, found a string": "secret",
        ]
    }

    /// Whether the secret is stored or cannot be stored. Errors of another property with the same type name the whole path.
    @Test func anErrorOfASecretNamesItsKeyAlone() throws {
        let store = PrefsStore.memory()
        let prefs = SecretPrefs(store: store)
        let unstorable = Card(until: Date(timeIntervalSinceReferenceDate: .infinity))
        prefs.shown = unstorable
        #expect(prefs.outcome == "shown.until: a date must be finite")
        prefs.card = unstorable
        #expect(prefs.outcome == "card: a date must be finite")
        #expect(prefs.lastError?.problems.map(\.path) == ["card"])
        // Also beside another value, in an update, and without a type.
        let date = Date(timeIntervalSinceReferenceDate: .infinity)
        prefs.values = ["card": ["until": date], "shown": ["until": date]]
        #expect(prefs.outcome == "card: a date must be finite\nshown.until: a date must be finite")
        let result = prefs.update { $0["card"] = ["until": date] }
        #expect(result.failure?.description == "card: a date must be finite")
        prefs.values["card"] = ["until": date]
        #expect(prefs.outcome == "card: a date must be finite")
        prefs.cards = [Card()]
        #expect(prefs.outcome == "cards: must be empty")
        let stored: [String: Any] = ["limits": ["x"]]
        try store.update(root: "SecretPrefs") { $0 = ["card": stored, "cards": [stored], "shown": stored] }
        for (read, message) in [
            ({ _ = $0.card }, "card"), ({ _ = $0.cards }, "cards"), ({ _ = $0.shown }, "shown.limits[0]"),
        ]
            as [((SecretPrefs) -> Void, String)]
        {
            read(prefs)
            #expect(prefs.outcome == message + ": expected Double, found a string")
        }
    }

    private func key(of message: String) -> String { String(message.prefix { !".:[".contains($0) }) }

    @Test func aMismatchIsReportedWithItsPath() throws {
        let store = PrefsStore.memory()
        let prefs = ErrorPrefs(store: store)
        for (message, object) in Self.mismatches {
            try store.update(root: "ErrorPrefs") { $0 = [key(of: message): object] }
            read(prefs)
            #expect(prefs.outcome == message)
            let failure = try #require(prefs.lastError?.detail(of: PrefsError.typeMismatch)?.first, "\(message)")
            #expect(failure.topLevelKey == key(of: message) && failure.path.hasPrefix(key(of: message)))
            #expect("\(failure)" == message)
        }
    }

    /// Reads the properties, one of which has an error.
    private func read(_ prefs: ErrorPrefs) {
        let reads: [() -> Void] = [
            { _ = prefs.byte }, { _ = prefs.ratio }, { _ = prefs.careful }, { _ = prefs.owner }, { _ = prefs.owners },
            { _ = prefs.colors }, { _ = prefs.ages },
            { _ = prefs.urls },
            { _ = prefs.link }, { _ = prefs.troubles }, { _ = prefs.own }, { _ = prefs.odd },
        ]
        for read in reads {
            read()
            if prefs.lastError != nil { return }
        }
    }

    @Test func anEncodingErrorChangesNothing() throws {
        let folder = try TemporaryFolder()
        let prefs = ErrorPrefs(store: .propertyList(url: folder.file(), durability: .crash))
        prefs.link = Held(Link())
        prefs.troubles = []
        prefs.date = .distantPast
        let bytes = try Data(contentsOf: folder.file())
        func refused(_ message: String, _ write: () -> Void) throws {
            write()
            #expect(prefs.outcome == message)
            #expect(prefs.lastError == .valuesNotPlistCompatible(invalidElements: [key(of: message)]))
            #expect(try Data(contentsOf: folder.file()) == bytes)
        }
        try refused("troubles[0]: Trouble could not be encoded: Failure") { prefs.troubles = [Trouble(.plain)] }
        try refused("troubles[0]: Trouble encoded no value") { prefs.troubles = [Trouble(.none), Trouble(.plain)] }
        try refused("troubles[0]: String could not be encoded") { prefs.troubles = [Trouble(.invalid)] }
        try refused("link.next.others[1].trouble: Trouble could not be encoded: Failure") {
            prefs.link = Held(chain([Link(), troubled(.plain)]))
        }
        try refused("links.a[0].trouble: String could not be encoded") {
            prefs.links = ["a": [Held(troubled(.invalid))]]
        }
        try refused("date: a date must be finite") { prefs.date = Date(timeIntervalSinceReferenceDate: .nan) }
        let undated = Link()
        undated.date = Date(timeIntervalSinceReferenceDate: .infinity)
        try refused("link.next.others[0].date: a date must be finite") { prefs.link = Held(chain([undated])) }
        try refused("own: Int could not be encoded: Failure") { prefs.own = 1 }
        try refused("odd: a URL cannot be stored in a property list; store its absoluteString") { prefs.odd = 1 }
        #expect(prefs.date == .distantPast && prefs.troubles.isEmpty && prefs.outcome == "ok")
    }

    @Test func aFewRawValuesAreTold() {
        func reason<Value: RawRepresentable>(_ type: Value.Type) -> String? {
            let error = #expect(throws: ValueMismatch.self) { try PrefCoding(rule: type).value(of: .integer(0)) }
            return error?.reason
        }
        let numbers = (1...20).map { "\($0)" }.joined(separator: ", ")
        #expect(reason(Few.self) == "expected one of \(numbers), found an unknown raw value")
        #expect(reason(Many.self) == "expected Many, found an unknown raw value")
    }

    /// A value of objects names all of its parts that do not fit, inside other containers, too.
    @Test func everyPartIsNamedByItsWholePath() {
        let rows: [[String: Any]] = [["a": 1], ["b": [1, NSNull(), Decimal(1)] as [Any]]]
        let error = #expect(throws: ValueMismatch.self) { try PrefCoding(rule: [[String: Any]].self).stored(for: rows) }
        #expect(error?.failures(forKey: "k").map(\.path) == ["k[1].b[1]", "k[1].b[2]"])
        let table: [String: [[Any]]] = ["t": [[1], [NSNull(), 2, NSNull()]]]
        let other = #expect(throws: ValueMismatch.self) {
            try PrefCoding(rule: [String: [[Any]]].self).stored(for: table)
        }
        #expect(other?.failures(forKey: "k").map(\.path) == ["k.t[1][0]", "k.t[1][2]"])
    }

    private func chain(_ others: [Link]) -> Link {
        let link = Link()
        link.next = Link()
        link.next?.others = others
        return link
    }

    private func troubled(_ kind: Trouble.Kind) -> Link {
        let link = Link()
        link.trouble = Trouble(kind)
        return link
    }
}
