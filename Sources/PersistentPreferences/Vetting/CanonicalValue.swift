import Foundation

/// Questions about values that are in canonical form already: String, Data, Date, Bool, NSNumber, `[Any]` and
/// `[String: Any]` of those.
enum CanonicalValue {
    /// True where two canonical values are the same property list. Texts are compared by their bytes, since two
    /// spellings of a letter are two contents. Cost: linear, but storage that is shared is not walked.
    static func areEqual(_ left: Any, _ right: Any) -> Bool {
        if areIdentical(left, right) { return true }
        switch (CanonicalForm(left), CanonicalForm(right)) {
        case (.list(let left), .list(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
        case (.dictionary(let left), .dictionary(let right)):
            guard left.count == right.count else { return false }
            return left.allSatisfy { key, value in
                guard let index = right.index(forKey: key) else { return false }
                let other = right[index]
                return key.utf8.elementsEqual(other.key.utf8) && areEqual(value, other.value)
            }
        default:
            return false
        }
    }

    /// True where two values are one scalar, or containers that share their storage; containers that differ in storage
    /// are not looked into. The values need not be canonical. Constant time but for texts and data.
    static func areIdentical(_ left: Any, _ right: Any) -> Bool {
        let kind = type(of: left)
        guard kind == type(of: right) else { return numbersAreEqual(left, right) }
        if kind == String.self, let left = left as? String, let right = right as? String {
            return left.utf8.elementsEqual(right.utf8)
        }
        if kind == [String: Any].self, let left = left as? [String: Any], let right = right as? [String: Any] {
            // A dictionary is one word: the reference to its storage.
            return unsafeBitCast(left, to: UInt.self) == unsafeBitCast(right, to: UInt.self)
        }
        if kind == [Any].self, let left = left as? [Any], let right = right as? [Any] {
            return unsafeBitCast(left, to: UInt.self) == unsafeBitCast(right, to: UInt.self)
        }
        if kind == Data.self, let left = left as? Data, let right = right as? Data {
            return left == right
        }
        if kind == Date.self, let left = left as? Date, let right = right as? Date {
            return left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        }
        if numbersAreEqual(left, right) { return true }
        return kind is AnyClass && (left as AnyObject) === (right as AnyObject)
    }

    /// The bytes that a value takes in a binary property list, estimated from above to within a few bytes a value.
    static func estimatedBytes(_ value: Any) -> Int {
        switch CanonicalForm(value) {
        case .text(let text): 9 + encodedBytes(of: text)
        case .data(let data): 9 + data.count
        case .list(let elements): elements.reduce(9) { $0 + 4 + estimatedBytes($1) }
        case .dictionary(let dictionary):
            dictionary.reduce(9) { $0 + 17 + encodedBytes(of: $1.key) + estimatedBytes($1.value) }
        case .bool, .number, .date, .foreign: 13
        }
    }

    /// A binary property list holds a text as ASCII or, if one character is none, all of it as UTF-16.
    static func encodedBytes(of text: String) -> Int {
        var text = text
        let isASCII = text.withUTF8 { $0.allSatisfy { $0 < 0x80 } }
        return isASCII ? text.utf8.count : 2 * text.utf16.count
    }

    /// True for a number; a Boolean is none.
    static func isNumber(_ value: Any) -> Bool {
        switch CanonicalNumber(object: value) {
        case .integer, .unsigned, .double: true
        case .bool, nil: false
        }
    }

    private static func numbersAreEqual(_ left: Any, _ right: Any) -> Bool {
        guard let left = CanonicalNumber(object: left), let right = CanonicalNumber(object: right) else { return false }
        return left == right
    }
}
