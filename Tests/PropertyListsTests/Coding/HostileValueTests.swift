import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PrefsPropertyLists

/// Decoding any stored value returns a value or an error that does not quote it.
@Suite struct HostileValueTests {
    private static let amount = Hazard.count("PREFS_HOSTILE_VALUES", default: 50)
    private static let secret = "s3cret"

    @Test func anythingStoredIsAValueOrAnError() throws {
        // In the usual form every fifth of the seeds.
        let seeds = FuzzSeeds.choices().enumerated().filter { Self.amount > 100 || $0.offset.isMultiple(of: 5) }
        var values = seeds.map(\.element).compactMap(Self.canonical)
        var random = SeededGenerator(seed: 4)
        for _ in 0..<Self.amount {
            let input = Data(
                (0..<Int.random(in: 1..<120, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
            if let value = Self.canonical(input) { values.append(value) }
        }
        values.append((0..<128).reduce("a" as Any) { inner, _ in [inner] })
        values.append((0..<128).reduce("a" as Any) { inner, _ in ["base": inner, "relative": "x"] })
        values.append((0..<128).reduce("a" as Any) { inner, _ in ["next": inner] })
        let marked = values.map(Self.marked)
        nonisolated(unsafe) let all = marked
        try onSmallStack {
            for (number, value) in all.enumerated() {
                for reader in Self.readers {
                    guard let error = reader(value, UInt64(number)) else { continue }
                    if error.contains(Self.secret) { throw FuzzViolation("a value is told: \(error.prefix(300))") }
                }
            }
        }
    }

    /// The error of a decoding; nil if it succeeds.
    private static func read<Value>(_ type: Value.Type) -> @Sendable (Any, UInt64) -> String? {
        { object, seed in
            OddReader.$seed.withValue(seed) { () -> String? in
                do {
                    _ = try PrefCoding(rule: Value.self).decode(StoredValue(of: object))
                    return nil
                } catch {
                    let failure = ValueMismatch(error, in: Value.self).failure(forKey: "key")
                    return "\(failure) \([failure])"
                }
            }
        }
    }

    private static let readers: [@Sendable (Any, UInt64) -> String?] = [
        read(String.self), read(Bool.self), read(Int.self), read(UInt8.self), read(UInt64.self), read(Double.self),
        read(Float.self), read(Date.self), read(Data.self), read(URL.self), read(UUID.self), read(Decimal.self),
        read([Any].self), read([String: Any].self), read([String?].self), read([String: [Int?]?].self),
        read(Set<String>.self), read(Set<[Decimal]>.self), read([URL].self), read([Int: String].self),
        read([UUID: Int].self), read(Theme.self), read([Theme: [Theme]].self), read(Int??.self), read(CodableTree.self),
        read(OddContainers.self), read(Held<Apprentice>.self), read([Held<Master>].self), read(OddReader.self),
        read([OddReader?].self),
        read(Endless.self), read([Endless].self), read(Chain.self), read(Range<Date>.self),
        read(DateComponents.self), read(Locale.self), read(CGRect.self), read(IndexSet.self), read(Calendar.self),
        read(CharacterSet.self), read(TimeZone.self), read(Measurement<UnitLength>.self), read(Telltale.self),
        read([Telltale].self),
        read([String: Telltale].self),
    ]

    private static func canonical(_ input: Data) -> Any? {
        var generator = ValueGenerator(input)
        let value = generator.make().value
        defer { generator.takeBack() }
        return try? PropertyListVetter.storedObject(of: value).get()
    }

    /// The value with recognizable texts, except texts that a type could interpret.
    private static func marked(_ value: Any) -> Any {
        switch value {
        case let text as String where !text.hasPrefix("$") && text.utf8.count > 1: secret + text
        case let list as [Any]: list.map(marked)
        case let dictionary as [String: Any]: dictionary.mapValues(marked)
        default: value
        }
    }
}

private enum Theme: String { case light, dark }

private struct Chain: Codable { var next: [String: Chain]? }

/// Decodes itself from the stored value without an end.
private struct Endless: Codable {
    init(from decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(Endless.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self)
    }
}

/// Quotes the stored value, in errors of all kinds.
private struct Telltale: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        let context = DecodingError.Context(
            codingPath: decoder.codingPath, debugDescription: text, underlyingError: FuzzViolation(text))
        switch text.utf8.count % 4 {
        case 0: throw DecodingError.dataCorrupted(context)
        case 1: throw DecodingError.typeMismatch(Int.self, context)
        case 2: throw DecodingError.valueNotFound(Int.self, context)
        default: throw FuzzViolation(text)
        }
    }

    func encode(to encoder: any Encoder) throws {}
}
