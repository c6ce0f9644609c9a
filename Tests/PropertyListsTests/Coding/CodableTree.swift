import Foundation
import PropertyListSupport
import TestSupport

/// A random value of Codable types of every kind, which contains itself.
struct CodableTree: Codable, Equatable {
    var branches: [Branch?] = []
    var named: [String: Branch] = [:]
    var last: Branch?
    var odd: OddContainers?
    var family: Master?

    indirect enum Branch: Codable, Equatable {
        case leaf
        case text(String)
        case number(Int64, exact: Double)
        case small(Int8, UInt64, Bool)
        case moment(Date, bytes: Data)
        case optional(String?, also: Int?)
        case list([Branch])
        case gaps([String?], [[Int?]])
        case tree(CodableTree)
        case pair(key: Mood, Branch)
        case id(UUID)
        case special(Special)
    }

    enum Mood: String, Codable, CaseIterable { case calm, wild, dollars }

    /// Values that Foundation's encoder stores differently.
    enum Special: Codable, Equatable {
        case url(URL)
        case decimal(Decimal)
        case texts(Set<String?>)
        case numbers(Set<Double>)
        case null(String)
        case nulls([String?])
    }
}

/// Nested containers by hand, keyed and unkeyed, continued after others.
struct OddContainers: Equatable {
    var number: Int
    var texts: [String]
    var flag: Bool
}

extension OddContainers: Codable {
    private enum Key: String, CodingKey { case inner, list, more }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var inner = container.nestedContainer(keyedBy: Key.self, forKey: .inner)
        try inner.encode(number, forKey: .more)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encodeNil()
        var texts = list.nestedUnkeyedContainer()
        for text in self.texts { try texts.encode(text) }
        // A second request for a container continues it.
        var again = container.nestedContainer(keyedBy: Key.self, forKey: .inner)
        try again.encode(flag, forKey: .list)
        var keyed = list.nestedContainer(keyedBy: Key.self)
        try keyed.encodeNil(forKey: .inner)
        var more = container.nestedUnkeyedContainer(forKey: .list)
        try more.encode(number)
        try container.encodeNil(forKey: .more)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let inner = try container.nestedContainer(keyedBy: Key.self, forKey: .inner)
        number = try inner.decode(Int.self, forKey: .more)
        flag = try inner.decode(Bool.self, forKey: .list)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        guard try list.decodeNil(), try container.decodeNil(forKey: .more) else { throw FuzzViolation("no nil") }
        var texts = try list.nestedUnkeyedContainer()
        self.texts = []
        while !texts.isAtEnd { self.texts.append(try texts.decode(String.self)) }
        guard try list.nestedContainer(keyedBy: Key.self).decodeNil(forKey: .inner),
            try list.decode(Int.self) == number,
            list.isAtEnd
        else { throw FuzzViolation("the list is another") }
    }
}

/// A class and its subclass, which encodes it by a superEncoder.
class Master: Codable, Equatable {
    var name: String

    init(name: String) { self.name = name }

    static func == (left: Master, right: Master) -> Bool { left.isEqual(to: right) }

    func isEqual(to other: Master) -> Bool { type(of: self) == type(of: other) && name == other.name }
}

final class Apprentice: Master {
    var toys: [String: Int]
    var other: Master?

    private enum Key: CodingKey { case toys, other }

    init(name: String, toys: [String: Int], other: Master?) {
        self.toys = toys
        self.other = other
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        toys = try container.decode([String: Int].self, forKey: .toys)
        other = try container.decodeNil(forKey: .other) ? nil : Master(from: container.superDecoder(forKey: .other))
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(toys, forKey: .toys)
        if let other {
            try other.encode(to: container.superEncoder(forKey: .other))
        } else {
            try container.encodeNil(forKey: .other)
        }
        try super.encode(to: container.superEncoder())
    }

    override func isEqual(to other: Master) -> Bool {
        guard let other = other as? Apprentice else { return false }
        return super.isEqual(to: other) && toys == other.toys && self.other == other.other
    }
}

/// Grows trees.
struct TreeMaker {
    var random: SeededGenerator
    /// Whether to make values that Foundation stores differently.
    let isSpecial: Bool

    mutating func tree(_ depth: Int = 0) -> CodableTree {
        var tree = CodableTree()
        tree.branches = list { $0.chance(4) ? nil : $0.branch(depth + 1) }
        for word in list({ $0.word() }) { tree.named[word] = branch(depth + 1) }
        tree.last = chance(2) ? nil : branch(depth + 1)
        if chance(3) { tree.odd = OddContainers(number: number(), texts: list { $0.word() }, flag: chance(2)) }
        // A member's own type decides what is decoded.
        if chance(3) { tree.family = Master(name: word()) }
        return tree
    }

    mutating func apprentice() -> Apprentice {
        var toys: [String: Int] = [:]
        for word in list({ $0.word() }) { toys[word] = number() }
        return Apprentice(name: word(), toys: toys, other: chance(2) ? nil : Master(name: word()))
    }

    private mutating func branch(_ depth: Int) -> CodableTree.Branch {
        switch Int.random(in: 0..<(depth < 5 ? 12 : 7), using: &random) {
        case 0: .leaf
        case 1, 10: .text(word())
        case 2: .number(Int64(number()), exact: real())
        case 3: .small(Int8.random(in: .min ... .max, using: &random), random.next(), chance(2))
        case 4:
            .moment(
                Date(timeIntervalSinceReferenceDate: real().remainder(dividingBy: 1e10)),
                bytes: Data(list { UInt8(truncatingIfNeeded: $0.number()) }))
        case 5: .optional(chance(2) ? nil : word(), also: chance(2) ? nil : number())
        case 6: isSpecial ? .special(special()) : .id(UUID())
        case 7: .list(list { $0.branch(depth + 1) })
        case 8: .gaps(list { $0.chance(3) ? nil : $0.word() }, list { $0.list { $0.chance(3) ? nil : $0.number() } })
        case 9: .pair(key: CodableTree.Mood.allCases.randomElement(using: &random) ?? .calm, branch(depth + 1))
        default: .tree(tree(depth + 2))
        }
    }

    private mutating func special() -> CodableTree.Special {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .url(URL(fileURLWithPath: "/" + word()))
        case 1:
            .decimal(
                Decimal(
                    sign: .minus, exponent: Int.random(in: -100...100, using: &random),
                    significand: Decimal(random.next())))
        case 2: .texts(Set(list { $0.chance(3) ? nil : $0.dollars() }))
        case 3: .numbers(Set(list { $0.real() }))
        case 4: .null(dollars())
        default: .nulls(list { $0.chance(3) ? nil : $0.dollars() })
        }
    }

    private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

    private mutating func list<T>(_ make: (inout TreeMaker) -> T) -> [T] {
        (0..<Int.random(in: 0..<4, using: &random)).map { _ in make(&self) }
    }

    private mutating func number() -> Int {
        [0, 1, -1, .max, .min, 255, Int(truncatingIfNeeded: random.next())].randomElement(using: &random) ?? 0
    }

    private mutating func real() -> Double {
        let any = Double(bitPattern: random.next())
        return [0, 0.1, -2.5, 4, 1e22, any.isFinite ? any : 7].randomElement(using: &random) ?? 0
    }

    private mutating func word() -> String {
        ["a", "b", "", "$", "null", "\u{E9}", "a.b[0]", "\u{1F600}", "x y", "$nul"].randomElement(using: &random) ?? ""
    }

    private mutating func dollars() -> String {
        ["$null", "$$null", "$$$null", "$$", "a$null", "$null$null"].randomElement(using: &random) ?? ""
    }
}
