package import Foundation

/// A value of a property list. Readers produce it, the engine stores it, and writers take it.
///
/// Two values are equal if they are equal as property lists. 1, 1.0 and true are three values, −0.0 keeps its sign, and
/// all NaNs are equal. Texts and keys are compared by their bytes, because two spellings of a letter are different
/// contents.
///
/// `PropertyListVetter` makes a value from a user's object; ``object`` is the object that the user gets.
package enum StoredValue: Sendable {
    case string(String)
    case bool(Bool)
    case integer(Int64)
    /// Only for a number beyond Int64.
    case unsigned(UInt64)
    /// Made by `init(_:)`, which converts every NaN to one NaN, because numbers are compared by their bits.
    case real(Double)
    /// A number with more digits than a Double has, as its text. Only the content of a file that people write has it, so
    /// that a Decimal reads all digits.
    case decimal(String)
    case date(Date)
    case data(Data)
    case array([StoredValue])
    case dictionary([String: StoredValue])
    /// A reference of a keyed archive that another program has stored. A write of one is rejected.
    case uid(KeyedArchiveUID)
    /// An object that other code has stored and no other case can express. Reads return it, writes of other keys
    /// preserve it, and a write of such an object is rejected.
    case foreign(ForeignObject)
    /// "No value" in a file that people write. Only the content of such a file has it, so that a write keeps it.
    case null

    package init(_ value: some FixedWidthInteger) {
        self = Int64(exactly: value).map(Self.integer) ?? .unsigned(UInt64(truncatingIfNeeded: value))
    }

    package init(_ number: Double) {
        self = .real(number.isNaN ? .nan : number)
    }

    package var dictionary: [String: StoredValue]? {
        if case .dictionary(let members) = self { members } else { nil }
    }

    /// Returns the members of a dictionary, and leaves a null in its place; nil for another value, which stays.
    package mutating func takeDictionary() -> [String: StoredValue]? {
        guard case .dictionary(let members) = self else { return nil }
        self = .null
        return members
    }

    package var array: [StoredValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    package var isDecimal: Bool {
        if case .decimal = self { true } else { false }
    }

    /// The value where a type asks for one. A null is a value only of an optional: for another type, and without a type, its
    /// key is missing.
    package func present(as type: @autoclosure () -> Any.Type? = nil) -> StoredValue? {
        isNull && !(type() is any OptionalValue.Type) ? nil : self
    }

    /// Whether the value, or a scalar inside of it, satisfies a condition.
    func holds(_ isFound: (StoredValue) -> Bool) -> Bool {
        switch self {
        case .array(let elements): elements.contains { $0.holds(isFound) }
        case .dictionary(let members): members.values.contains { $0.holds(isFound) }
        default: isFound(self)
        }
    }

    /// Whether a null is in the value.
    package var holdsNull: Bool { holds(\.isNull) }

    /// Whether a foreign object is in the value.
    var holdsForeign: Bool { holds { if case .foreign = $0 { true } else { false } } }

    /// Whether a property list holds the value as it is: no null, and no number of more digits than a Double.
    package var isPlain: Bool { !holds { $0.isNull || $0.isDecimal } }

    /// The value as a property list holds it: without the nulls inside of it, and with Doubles for numbers of more
    /// digits. Shares its storage if there are none.
    package var plain: StoredValue {
        if isPlain { return self }
        return switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map(\.plain))
        case .dictionary(let members): .dictionary(members.filter { !$0.value.isNull }.mapValues(\.plain))
        case .decimal(let text): StoredValue(Double(text) ?? .nan)
        default: self
        }
    }

    package var isContainer: Bool {
        switch self {
        case .array, .dictionary: true
        default: false
        }
    }

    /// The bytes that the value takes in a binary property list, overestimated by at most a few bytes per value.
    @inline(never) package var estimatedBytes: Int {
        switch self {
        case .string(let text), .decimal(let text): 9 + text.encodedBytes
        case .data(let data): 9 + data.count
        case .array(let elements): elements.reduce(9) { $0 + 4 + $1.estimatedBytes }
        case .dictionary(let members): members.estimatedBytes
        case .bool, .integer, .unsigned, .real, .date, .uid, .foreign, .null: 13
        }
    }
}

extension [String: StoredValue] {
    /// The bytes that the dictionary takes in a binary property list, estimated like the bytes of a value.
    package var estimatedBytes: Int {
        reduce(9) { $0 + .estimatedBytes(of: $1.value, forKey: $1.key) }
    }
}

extension Int {
    /// The bytes that one member of a dictionary takes in a binary property list, estimated like the bytes of a value.
    package static func estimatedBytes(of value: StoredValue, forKey key: String) -> Int {
        17 + key.encodedBytes + value.estimatedBytes
    }
}

// MARK: - Equality

extension StoredValue: Hashable {
    /// Costs linear time; shared storage is not traversed.
    package static func == (left: StoredValue, right: StoredValue) -> Bool {
        if haveSameWords(left, right) { return true }
        return switch (left, right) {
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.decimal(let left), .decimal(let right)): left == right
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.data(let left), .data(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left.isEqual(to: right)
        case (.dictionary(let left), .dictionary(let right)): left.isEqual(to: right)
        case (.uid(let left), .uid(let right)): left == right
        case (.foreign(let left), .foreign(let right)): SharedStorage.areSame(left.object, right.object)
        case (.null, .null): true
        default: false
        }
    }

    /// True only if the values are equal: the same scalar, or shared storage. Takes a few instructions.
    @inline(__always)
    private static func haveSameWords(_ left: StoredValue, _ right: StoredValue) -> Bool {
        guard MemoryLayout<StoredValue>.size == MemoryLayout<Words>.size else { return false }
        let (left, right) = (unsafeBitCast(left, to: Words.self), unsafeBitCast(right, to: Words.self))
        return left.0 == right.0 && left.1 == right.1 && left.2 == right.2
    }

    /// The payload of two words, and the case.
    private typealias Words = (UInt64, UInt64, UInt8)

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text): text.hashBytes(into: &hasher)
        case .bool(let bool): hasher.combine(bool)
        case .integer(let number): hasher.combine(number)
        case .unsigned(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number.bitPattern)
        case .decimal(let text): hasher.combine(text)
        case .date(let date): hasher.combine(date.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let data): hasher.combine(data)
        case .array(let elements): hasher.combine(elements)
        case .dictionary(let members):
            // Combines the hashes of the members in every order, because the order of a dictionary is not part of its
            // value.
            var hashes = 0
            for (key, value) in members {
                var member = Hasher()
                key.hashBytes(into: &member)
                value.hash(into: &member)
                hashes ^= member.finalize()
            }
            hasher.combine(hashes)
        case .uid(let uid): hasher.combine(uid)
        case .foreign, .null: break
        }
    }

    /// True if two values are the same scalar, or containers that share their storage. Other containers are not
    /// compared further. Takes constant time except for texts and data.
    package func isIdentical(to other: StoredValue) -> Bool {
        switch (self, other) {
        case (.array(let left), .array(let right)): SharedStorage.isShared(left, right)
        case (.dictionary(let left), .dictionary(let right)): left.isIdentical(to: right)
        default: self == other
        }
    }
}

extension [StoredValue] {
    fileprivate func isEqual(to other: [StoredValue]) -> Bool {
        SharedStorage.isShared(self, other) || count == other.count && zip(self, other).allSatisfy { $0 == $1 }
    }
}

extension [String: StoredValue] {
    /// Whether the dictionaries are equal as property lists. `==` would treat two spellings of a key as one.
    package func isEqual(to other: [String: StoredValue]) -> Bool {
        if isIdentical(to: other) { return true }
        guard count == other.count else { return false }
        var isEqual = true
        forEach(besides: other) { key, value, other in
            isEqual = other.map { key.hasSameBytes(as: $0.key) && value == $0.value } ?? false
            return isEqual
        }
        return isEqual
    }

    /// Calls a closure with each member that differs from the member of a former dictionary that has an equal key, in
    /// its value or in the spelling of its key; and another closure with each former member whose key is gone. Shared
    /// storage is not traversed.
    package func forEachChange(
        since former: Self, _ assigned: (String, StoredValue, _ former: Element?) -> Void,
        removed: (String, StoredValue) -> Void
    ) {
        if isIdentical(to: former) { return }
        var common = 0
        forEach(besides: former) { key, value, other in
            common += other == nil ? 0 : 1
            let isEqual = other.map { $0.value == value && $0.key.hasSameBytes(as: key) } ?? false
            if !isEqual { assigned(key, value, other) }
            return true
        }
        // Most changes remove nothing.
        if common == former.count { return }
        for (key, value) in former where index(forKey: key) == nil { removed(key, value) }
    }

    /// Calls the closure with each member and the member of another dictionary that has an equal key, until the closure
    /// returns false.
    ///
    /// A changed copy of a dictionary has its members in almost the same order. So most are found without a search.
    @inline(__always)
    func forEach(besides other: Self, _ body: (String, StoredValue, _ other: Element?) -> Bool) {
        var next = other.startIndex
        for (key, value) in self {
            if next == other.endIndex || !other[next].key.hasSameBytes(as: key) {
                guard let found = other.index(forKey: key) else {
                    if body(key, value, nil) { continue }
                    return
                }
                next = found
            }
            guard body(key, value, other[next]) else { return }
            next = other.index(after: next)
        }
    }

    /// The keys of the members that only one of the dictionaries has, or that may differ, because they do not share their
    /// storage. Compares no members of members.
    package func keysThatMayDiffer(from former: Self) -> Set<String> {
        var keys: Set<String> = []
        var common = 0
        forEach(besides: former) { key, value, other in
            common += other == nil ? 0 : 1
            if other?.value.isIdentical(to: value) != true { keys.insert(key) }
            return true
        }
        if common == former.count { return keys }
        for key in former.keys where index(forKey: key) == nil { keys.insert(key) }
        return keys
    }

    /// Whether the dictionaries share their storage. Takes constant time.
    package func isIdentical(to other: [String: StoredValue]) -> Bool { SharedStorage.isShared(self, other) }
}

// MARK: - Order

/// An order of values of all types. Sets are stored sorted, so that equal sets have equal stored forms. References and
/// foreign objects, which sets cannot hold, are ordered by their kind alone.
extension StoredValue {
    static func precedes(_ left: StoredValue, _ right: StoredValue) -> Bool { compare(left, right) < 0 }

    private static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
        switch (left, right) {
        case (.string(let left), .string(let right)): compare(left, right)
        case (.bool(let left), .bool(let right)): (left ? 1 : 0) - (right ? 1 : 0)
        case (.integer(let left), .integer(let right)): compare(left, right)
        case (.unsigned(let left), .unsigned(let right)): compare(left, right)
        case (.real(let left), .real(let right)): compare(left, right)
        case (.date(let left), .date(let right)):
            compare(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.data(let left), .data(let right)): compare(left, right) { compare($0, $1) }
        case (.array(let left), .array(let right)): compare(left, right, compare)
        case (.dictionary(let left), .dictionary(let right)):
            compare(left.sortedByBytes, right.sortedByBytes) { left, right in
                let order = compare(left.key, right.key)
                return order == 0 ? compare(left.value, right.value) : order
            }
        default: compare(left.rank, right.rank)
        }
    }

    private static func compare(_ left: String, _ right: String) -> Int {
        left.precedes(right) ? -1 : right.precedes(left) ? 1 : 0
    }

    private static func compare<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : right < left ? 1 : 0
    }

    /// Compares every bit of two numbers. The one NaN is greater than all numbers.
    private static func compare(_ left: Double, _ right: Double) -> Int {
        if left.bitPattern == right.bitPattern { return 0 }
        return left.isTotallyOrdered(belowOrEqualTo: right) ? -1 : 1
    }

    private static func compare<S: Sequence>(
        _ left: S, _ right: S, _ order: (S.Element, S.Element) -> Int
    ) -> Int {
        var others = right.makeIterator()
        for element in left {
            guard let other = others.next() else { return 1 }
            let result = order(element, other)
            if result != 0 { return result }
        }
        return others.next() == nil ? 0 : -1
    }

    private var rank: Int {
        switch self {
        case .string: 0
        case .bool: 1
        case .integer: 2
        case .unsigned: 3
        case .real: 4
        case .date: 5
        case .data: 6
        case .array: 7
        case .dictionary: 8
        case .uid: 9
        case .foreign: 10
        case .null: 11
        case .decimal: 12
        }
    }
}

extension [String: StoredValue] {
    /// The members in the order of the bytes of their keys, which is the same in every process.
    package var sortedByBytes: [Element] { indicesByBytes.map { self[$0] } }

    /// The places of the members in that order.
    ///
    /// The first bytes of a key and the number of its place are one integer, because integers are sorted ten times as
    /// fast as texts. Few keys have the same first bytes.
    var indicesByBytes: [Index] {
        let places = Array(indices)
        let mask = UInt64.max >> UInt64(UInt64(places.count).leadingZeroBitCount)
        var numbers: [UInt64] = []
        numbers.reserveCapacity(places.count)
        for place in places { numbers.append(keys[place].firstBytes & ~mask | UInt64(numbers.count)) }
        numbers.sort()
        var order = numbers.map { places[Int($0 & mask)] }
        var start = 0
        while start < order.count {
            let end = numbers[start...].firstIndex { $0 & ~mask != numbers[start] & ~mask } ?? order.count
            if end > start + 1 {
                order.replaceSubrange(start..<end, with: order[start..<end].sorted(byText: { keys[$0] }))
            }
            start = end
        }
        return order
    }
}
