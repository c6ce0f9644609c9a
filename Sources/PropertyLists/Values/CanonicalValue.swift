import Foundation

/// Questions about values that are in canonical form already: String, Data, Date, Bool, NSNumber, `[Any]` and
/// `[String: Any]` of those; and KeyedArchiveUID in entries of other programs.
package enum CanonicalValue {
    /// True if two canonical values are the same property list. Texts are compared by their bytes, because two spellings of a letter are
    /// two contents. Costs linear time; shared storage is not traversed.
    package static func areEqual(_ left: Any, _ right: Any) -> Bool {
        switch (CanonicalForm(left), CanonicalForm(right)) {
        case (.list(let left), .list(let right)):
            return shareStorage(left, right)
                || left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
        case (.dictionary(let left), .dictionary(let right)):
            if shareStorage(left, right) { return true }
            guard left.count == right.count else { return false }
            return left.allSatisfy { key, value in
                guard let index = right.index(forKey: key) else { return false }
                let other = right[index]
                return haveEqualBytes(key, other.key) && areEqual(value, other.value)
            }
        case (.foreign, .foreign): return areSameObject(left, right)
        case (let left, let right): return areEqualScalars(left, right)
        }
    }

    /// The same for values that may be missing: two missing values are equal.
    package static func areEqualOrMissing(_ left: Any?, _ right: Any?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): areEqual(left, right)
        default: false
        }
    }

    /// True if two values are the same scalar, or containers that share their storage. Containers with different storage are not
    /// compared further. The values need not be canonical. Takes constant time except for texts and data.
    package static func areIdentical(_ left: Any, _ right: Any) -> Bool {
        switch (CanonicalForm(left), CanonicalForm(right)) {
        case (.list(let left), .list(let right)): shareStorage(left, right)
        case (.dictionary(let left), .dictionary(let right)): shareStorage(left, right)
        case (.foreign, .foreign): areSameObject(left, right)
        case (let left, let right): areEqualScalars(left, right)
        }
    }

    private static func areEqualScalars(_ left: CanonicalForm, _ right: CanonicalForm) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): haveEqualBytes(left, right)
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)):
            left === right || CanonicalNumber(left) == CanonicalNumber(right)
        // A Boolean that is an object still.
        case (.number(let left), .bool(let right)), (.bool(let right), .number(let left)):
            CanonicalNumber(left) == .bool(right)
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.data(let left), .data(let right)): left == right
        case (.uid(let left), .uid(let right)): left == right
        default: false
        }
    }

    private static func areSameObject(_ left: Any, _ right: Any) -> Bool {
        type(of: left) is AnyClass && type(of: right) is AnyClass && (left as AnyObject) === (right as AnyObject)
    }

    /// A container is one word: the reference to its storage.
    private static func shareStorage<Container>(_ left: Container, _ right: Container) -> Bool {
        unsafeBitCast(left, to: UInt.self) == unsafeBitCast(right, to: UInt.self)
    }

    /// Texts that are equal to Swift may be spelled with other characters.
    private static func haveEqualBytes(_ left: String, _ right: String) -> Bool {
        // Short texts, and those that share their storage, are the same two words.
        if haveEqualWords(left, right) { return true }
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
                    return left.count == right.count
                }
                return memcmp(start, other, left.count) == 0
            }
        }
    }

    /// False if it cannot be determined: on the watch, a text is not two words of 64 bits.
    static func haveEqualWords(_ left: String, _ right: String) -> Bool {
        guard MemoryLayout<String>.size == MemoryLayout<Words>.size else { return false }
        let (left, right) = (unsafeBitCast(left, to: Words.self), unsafeBitCast(right, to: Words.self))
        return left.0 == right.0 && left.1 == right.1
    }

    private typealias Words = (UInt64, UInt64)

    /// Whether a value has more than 16 levels of containers.
    package static func hasManyLevels(_ value: Any) -> Bool { hasLevels(17, value) }

    private static func hasLevels(_ count: Int, _ value: Any) -> Bool {
        switch CanonicalForm(value) {
        case .list(let elements): count == 1 || elements.contains { hasLevels(count - 1, $0) }
        case .dictionary(let members): count == 1 || members.values.contains { hasLevels(count - 1, $0) }
        default: false
        }
    }

    /// The bytes that a value takes in a binary property list, estimated from above to within a few bytes a value.
    package static func estimatedBytes(_ value: Any) -> Int {
        switch CanonicalForm(value) {
        case .text(let text):
            return 9 + encodedBytes(of: text)
        case .data(let data):
            return 9 + data.count
        case .list(let elements):
            var bytes = 9
            for element in elements { bytes += 4 + estimatedBytes(element) }
            return bytes
        case .dictionary(let dictionary):
            var bytes = 9
            for (key, value) in dictionary { bytes += 17 + encodedBytes(of: key) + estimatedBytes(value) }
            return bytes
        case .bool, .number, .date, .uid, .foreign:
            return 13
        }
    }

    /// A binary property list stores a text as ASCII, or as UTF-16 if one character is not ASCII.
    static func encodedBytes(of text: String) -> Int {
        // The two counts are equal if all is ASCII, which a string knows.
        let (bytes, units) = (text.utf8.count, text.utf16.count)
        return bytes == units ? bytes : 2 * units
    }

    /// True for a number. False for a Boolean.
    static func isNumber(_ value: Any) -> Bool {
        switch CanonicalNumber(object: value) {
        case .integer, .unsigned, .double: true
        case .bool, nil: false
        }
    }
}
