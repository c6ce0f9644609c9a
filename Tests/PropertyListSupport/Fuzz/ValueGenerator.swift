package import Foundation

/// Builds a nested value out of the bytes of an input: each begins with the number of its kind.
package struct ValueGenerator {
    private enum Kind: UInt8, CaseIterable {
        // The corpus contains these numbers, so new cases must be at the end.
        case scalar, number, text, refused, optional, hashable, again, cycle
        case array, foundationArray, mutableArray, typedArray
        case dictionary, foundationDictionary, mutableDictionary, hashableDictionary, wrongKeys
        case levels, repeated, emptyContainer
    }

    var choices: Choices
    /// Actions that change texts, data and containers of the caller.
    var changeable: [() -> Void] = []
    private var nesting = 0
    private var levelsLeft = 300
    private var valuesLeft = 2_000
    private var pool: [GeneratedValue] = []
    private var openContainers: [NSObject] = []

    package init(_ input: Data) {
        choices = Choices(input)
    }

    /// Empties all mutable objects. The stored values must not change. Only this frees cycles.
    package mutating func takeBack() {
        changeable.forEach { $0() }
        changeable = []
    }

    package mutating func make() -> GeneratedValue {
        valuesLeft -= 1
        guard !choices.isAtEnd, nesting < 24, valuesLeft > 0 else { return scalar() }
        nesting += 1
        defer { nesting -= 1 }
        let made = make(choices.element(of: Kind.allCases))
        // Keeps only accepted values, because a rejected one may refer to an open container.
        if made.expected != nil, pool.count < 64 { pool.append(made) }
        return made
    }

    private mutating func make(_ kind: Kind) -> GeneratedValue {
        switch kind {
        case .scalar: return scalar()
        case .number: return number()
        case .text: return text()
        case .refused: return refused()
        case .optional: return optional()
        case .hashable: return hashable()
        case .again: return pool.isEmpty ? scalar() : choices.element(of: pool)
        case .cycle: return openContainers.isEmpty ? scalar() : .refused(choices.element(of: openContainers))
        case .array: return array(parts())
        case .foundationArray:
            let parts = parts()
            return list(NSArray(array: parts.map(\.value)), of: parts)
        case .mutableArray: return mutableArray()
        case .typedArray: return typedArray()
        case .dictionary: return dictionary()
        case .foundationDictionary: return foundationDictionary()
        case .mutableDictionary: return mutableDictionary()
        case .hashableDictionary: return hashableDictionary()
        case .wrongKeys: return wrongKeys()
        case .levels: return levels()
        case .repeated:
            let part = make()
            let parts = Array(repeating: part, count: Int(choices.byte() % 17))
            return array(Self.areSmall(parts) ? parts : [part])
        case .emptyContainer: return emptyContainer()
        }
    }

    // MARK: - Lists

    private mutating func parts() -> [GeneratedValue] {
        (0..<(choices.byte() % 12)).reduce(into: []) { parts, _ in
            let part = make()
            if Self.areSmall(parts + [part]) { parts.append(part) }
        }
    }

    private func array(_ parts: [GeneratedValue]) -> GeneratedValue {
        list(parts.map(\.value), of: parts)
    }

    private func list(_ value: Any, of parts: [GeneratedValue]) -> GeneratedValue {
        .container(value, of: parts) { parts.compactMap(\.expected) }
    }

    private static let largest = 20_000

    /// Whether the parts are small. Shared parts multiply, and large values take seconds; other tests cover the limits.
    private static func areSmall(_ parts: [GeneratedValue]) -> Bool {
        parts.reduce(0) { $0 + $1.cost } < largest
    }

    private mutating func mutableArray() -> GeneratedValue {
        let list = NSMutableArray()
        changeable.append { list.removeAllObjects() }
        openContainers.append(list)
        let parts = parts()
        openContainers.removeLast()
        for part in parts { list.add(part.value) }
        return self.list(list, of: parts)
    }

    // MARK: - Dictionaries

    private struct Entry {
        let name: String
        let part: GeneratedValue
    }

    /// Entries without a repeated name in any spelling, because the result of a repetition is not defined.
    private mutating func entries() -> [Entry] {
        var names: Set<String> = []
        var cost = 0
        return (0..<(choices.byte() % 12)).compactMap { _ in
            let name = word()
            let part = make()
            cost += part.cost
            guard names.insert(name).inserted, cost < Self.largest else { return nil }
            return Entry(name: name, part: part)
        }
    }

    private func dictionary(_ value: Any, of entries: [Entry]) -> GeneratedValue {
        let parts = entries.map(\.part)
        var made = GeneratedValue.container(value, of: parts) {
            let pairs = entries.compactMap { entry in entry.part.expected.map { (entry.name, $0) } }
            let isLoneUID = pairs.count == 1 && pairs[0].0 == "CF$UID" && type(of: pairs[0].1) is NSNumber.Type
            return isLoneUID ? nil : Dictionary(uniqueKeysWithValues: pairs)
        }
        made.cost += entries.reduce(0) { $0 + $1.name.utf16.count * 2 }
        return made
    }

    private mutating func dictionary() -> GeneratedValue {
        let entries = entries()
        return dictionary(Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.part.value) }), of: entries)
    }

    private mutating func foundationDictionary() -> GeneratedValue {
        let entries = entries()
        let value = NSDictionary(
            objects: entries.map(\.part.value), forKeys: entries.map { NSString(string: $0.name) })
        return dictionary(value, of: entries)
    }

    private mutating func mutableDictionary() -> GeneratedValue {
        let value = NSMutableDictionary()
        changeable.append { value.removeAllObjects() }
        openContainers.append(value)
        let entries = entries()
        openContainers.removeLast()
        for entry in entries { value.setObject(entry.part.value, forKey: NSString(string: entry.name)) }
        return dictionary(value, of: entries)
    }

    private mutating func hashableDictionary() -> GeneratedValue {
        let entries = entries()
        var value: [AnyHashable: Any] = [:]
        for entry in entries {
            let isObject = choices.byte() & 1 == 1
            value[isObject ? AnyHashable(NSString(string: entry.name)) : AnyHashable(entry.name)] = entry.part.value
        }
        return dictionary(value, of: entries)
    }

    private mutating func wrongKeys() -> GeneratedValue {
        let key = choices.byte()
        let part = make().value
        switch key % 5 {
        case 0: return .refused([Int(key): part])
        case 1: return .refused([AnyHashable(Double(key)): part])
        case 2: return .refused(NSDictionary(object: part, forKey: NSNumber(value: key)))
        case 3: return .refused([AnyHashable("text"): part, AnyHashable(Date.distantPast): part])
        default: return .refused([UUID(): part])
        }
    }

    // MARK: - Around one value

    private mutating func optional() -> GeneratedValue {
        let choice = Int(choices.byte())
        let count = min(levelsLeft, choice < 0xF0 ? choice % 4 : choice)
        levelsLeft -= count
        let part = make()
        var value = part.value
        for _ in 0..<count { value = Any?.some(value) as Any }
        return GeneratedValue(
            value: value, expected: part.expected, depth: part.depth, cost: part.cost + 9 * count)
    }

    private mutating func levels() -> GeneratedValue {
        // Chooses a few levels, or about as many as the limit allows, because many cost time.
        let choice = Int(choices.byte())
        let count = min(levelsLeft, choice < 0xF0 ? choice % 12 : choice - 0xF0 + 120)
        levelsLeft -= count
        let form = choices.byte()
        let key = form & 4 == 0 ? "k" : word()
        var made = make()
        for level in 0..<count {
            let entry = [Entry(name: key, part: made)]
            switch (Int(form) + (form & 8 == 0 ? 0 : level)) % 4 {
            case 0: made = array([made])
            case 1: made = dictionary([key: made.value], of: entry)
            case 2: made = list(NSArray(object: made.value), of: [made])
            default:
                let value = NSDictionary(object: made.value, forKey: NSString(string: key))
                made = dictionary(value, of: entry)
            }
        }
        return made
    }
}

/// An input of the fuzzer, as decisions. Bytes after its end are 0.
struct Choices {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: Data) {
        self.bytes = [UInt8](bytes)
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        defer { position += 1 }
        return isAtEnd ? 0 : bytes[position]
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
        var result: Number = 0
        for _ in 0..<(Number.bitWidth / 8) {
            result = Number.bitWidth == 8 ? 0 : result << 8
            result |= Number(truncatingIfNeeded: byte())
        }
        return result
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<min(count, max(0, bytes.count - position))).map { _ in byte() }
    }

    mutating func element<Element>(of list: [Element]) -> Element {
        list[Int(byte()) % list.count]
    }
}
