import Foundation
import PropertyListSupport
import TestSupport

/// Requests parts that do not exist: past the end of lists, containers of the wrong kind, nil everywhere. The requests
/// are random, and it mostly continues after a failure.
struct OddReader: Codable {
    @TaskLocal static var seed: UInt64 = 0

    init() {}

    init(from decoder: any Decoder) throws {
        var reader = Reading(random: SeededGenerator(seed: Self.seed))
        try reader.read(decoder, depth: 0)
    }

    func encode(to encoder: any Encoder) throws {}
}

/// A key of any name. One of digits is also an index.
struct AnyKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = Int(stringValue)
    }

    init(stringLiteral name: String) { self.init(stringValue: name) }

    init?(intValue: Int) { self.init(stringValue: "\(intValue)") }
}

private struct Reading {
    var random: SeededGenerator
    private var steps = 40

    init(random: SeededGenerator) { self.random = random }

    mutating func read(_ decoder: any Decoder, depth: Int) throws {
        while steps > 0, depth < 12 {
            steps -= 1
            _ = decoder.codingPath.count + decoder.userInfo.count
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                if let container = try? decoder.container(keyedBy: AnyKey.self) { try keyed(container, depth) }
            case 1:
                if let container = try? decoder.unkeyedContainer() { try list(container, depth) }
            case 2: try single(decoder.singleValueContainer())
            case 3: return
            default:
                guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
                _ = try decoder.unkeyedContainer()
            }
        }
    }

    private mutating func single(_ container: any SingleValueDecodingContainer) throws {
        _ = container.decodeNil()
        _ = container.codingPath
        switch Int.random(in: 0..<6, using: &random) {
        case 0: _ = try? container.decode(Int?.self)
        case 1: _ = try? container.decode([String: Int].self)
        case 2: _ = try? container.decode(Decimal.self)
        case 3: _ = try? container.decode([OddReader].self)
        case 4: _ = try? container.decode(Never.self)
        default: _ = try? container.decode(Float.self)
        }
    }

    private mutating func keyed(_ container: KeyedDecodingContainer<AnyKey>, _ depth: Int) throws {
        let keys = container.allKeys + ["super", "none"]
        guard let key = keys.randomElement(using: &random) else { return }
        _ = container.contains(key)
        _ = container.codingPath
        switch Int.random(in: 0..<8, using: &random) {
        case 0: _ = try? container.decodeNil(forKey: key)
        case 1: _ = try? container.decodeIfPresent(String.self, forKey: key)
        case 2: _ = try? container.decode(URL?.self, forKey: key)
        case 3:
            if let inner = try? container.nestedContainer(keyedBy: AnyKey.self, forKey: key) {
                try keyed(inner, depth + 1)
            }
        case 4: if let inner = try? container.nestedUnkeyedContainer(forKey: key) { try list(inner, depth + 1) }
        case 5: if let inner = try? container.superDecoder() { try read(inner, depth: depth + 1) }
        case 6: if let inner = try? container.superDecoder(forKey: key) { try read(inner, depth: depth + 1) }
        default: _ = try? container.decode(Date.self, forKey: key)
        }
    }

    private mutating func list(_ container: any UnkeyedDecodingContainer, _ depth: Int) throws {
        var container = container
        // Requests two more elements than the list has.
        for _ in 0..<((container.count ?? 0) + 2) {
            let index = container.currentIndex
            _ = container.codingPath
            switch Int.random(in: 0..<8, using: &random) {
            case 0: _ = try? container.decodeNil()
            case 1: _ = try? container.decode(Int.self)
            case 2: _ = try? container.decodeIfPresent(Data.self)
            case 3: if let inner = try? container.nestedContainer(keyedBy: AnyKey.self) { try keyed(inner, depth + 1) }
            case 4: if let inner = try? container.nestedUnkeyedContainer(), depth < 12 { try list(inner, depth + 1) }
            case 5: if let inner = try? container.superDecoder() { try read(inner, depth: depth + 1) }
            case 6: _ = try? container.decode(CodableTree.self)
            default: _ = try? container.decode(Bool?.self)
            }
            guard container.currentIndex - index <= 1, container.currentIndex <= container.count ?? 0 else {
                throw FuzzViolation("the index ran away")
            }
        }
    }
}
