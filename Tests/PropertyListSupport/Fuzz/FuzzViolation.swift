import Foundation
import PrefsPropertyLists

/// A guarantee that an input of the fuzzer violates.
package struct FuzzViolation: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Throws unless the condition holds.
package func demand(_ condition: @autoclosure () throws -> Bool, _ promise: @autoclosure () -> String) throws {
    guard try condition() else { throw FuzzViolation(promise()) }
}

/// Throws unless two property lists are the same (`areSame`).
package func demandSame(_ left: Any, _ right: Any, isInXML: Bool = false, _ promise: @autoclosure () -> String) throws {
    guard !areSame(left, right, isInXML: isInXML) else { return }
    throw FuzzViolation("\(promise()): \(exactForm(left).prefix(200)) became \(exactForm(right).prefix(200))")
}

/// True if two property lists are equal by a comparison other than the library's own, and the library's comparison
/// agrees.
///
/// - Parameter isInXML: whether the right one was read from XML, where dates are rounded down to the second, as
///   documented.
func areSame(_ left: Any, _ right: Any, isInXML: Bool = false) -> Bool {
    let isSame = haveSameForm(left, right, isInXML: isInXML)
    return isInXML ? isSame : isSame && StoredValue.areEqual(left, right)
}

private func haveSameForm(_ left: Any, _ right: Any, isInXML: Bool) -> Bool {
    switch type(of: left) {
    case is Bool.Type:
        return type(of: right) == Bool.self && left as? Bool == right as? Bool
    case is String.Type:
        guard type(of: right) == String.self, let left = left as? String, let right = right as? String else {
            return false
        }
        return left.utf8.elementsEqual(right.utf8)
    case is Data.Type:
        return type(of: right) == Data.self && left as? Data == right as? Data
    case is Date.Type:
        guard type(of: right) == Date.self, let left = left as? Date, let right = right as? Date else { return false }
        let seconds = left.timeIntervalSinceReferenceDate
        let isZero = isInXML && seconds.rounded(.down) == 0
        let expected = isZero ? 0 : isInXML ? seconds.rounded(.down) : seconds
        return right.timeIntervalSinceReferenceDate.bitPattern == expected.bitPattern
    case is [Any].Type:
        guard type(of: right) == [Any].self, let left = left as? [Any], let right = right as? [Any] else {
            return false
        }
        return left.count == right.count && zip(left, right).allSatisfy { haveSameForm($0, $1, isInXML: isInXML) }
    case is [String: Any].Type:
        guard type(of: right) == [String: Any].self, let left = left as? [String: Any],
            let right = right as? [String: Any], left.count == right.count
        else { return false }
        let texts = Set(left.keys.map { Data($0.utf8) })
        return right.keys.allSatisfy { texts.contains(Data($0.utf8)) }
            && left.allSatisfy { key, value in
                right[key].map { haveSameForm(value, $0, isInXML: isInXML) } ?? false
            }
    case is NSNumber.Type:
        return type(of: right) is NSNumber.Type && exactForm(left) == exactForm(right)
    default:
        guard let left = left as? KeyedArchiveUID, let right = right as? KeyedArchiveUID else { return false }
        return left == right
    }
}
