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
    if isInXML { return exactForm(inWholeSeconds(left)) == exactForm(right) }
    return exactForm(left) == exactForm(right) && StoredValue.areEqual(left, right)
}
