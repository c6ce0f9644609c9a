import Foundation
import PrefsJSON
package import PrefsPropertyLists

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

/// Throws unless two property lists are equal by a comparison other than the library's own, and the library's comparison
/// agrees.
///
/// - Parameter isInXML: whether the right one was read from XML, where dates are rounded down to the second, as
///   documented.
package func demandSame(_ left: Any, _ right: Any, isInXML: Bool = false, _ promise: @autoclosure () -> String) throws {
    let (expected, found) = (exactForm(isInXML ? inWholeSeconds(left) : left), exactForm(right))
    let isSame = expected == found && (isInXML || StoredValue.areEqual(left, right))
    if !isSame { throw FuzzViolation("\(promise()): \(expected.prefix(200)) became \(found.prefix(200))") }
}

extension PropertyListFailure {
    /// Whether a failure is expected. XML has no form for some values of the binary format, and a UID takes an
    /// additional level there. JSON has no form for a UID.
    package func isExpected(in format: FileFormat) -> Bool {
        format == .json && reason == "holds a value that cannot be stored in JSON"
            || format == .plainXML
                && ["cannot be stored in XML", "a dictionary of a lone number CF$UID", "nested deeper than"].contains {
                    reason.hasPrefix($0) || reason.hasSuffix($0)
                }
    }
}

/// Throws unless each failure is at the key or inside of it, and has a reason.
package func checkFailures(_ failures: [PropertyListFailure], of key: String) throws {
    try demand(!failures.isEmpty, "refused without a failure")
    for failure in failures {
        try demand(failure.topLevelKey == key && failure.path.hasPrefix(key), "a failure elsewhere: \(failure)")
        try demand(!failure.reason.isEmpty, "a failure without a reason at \(failure.path)")
    }
}
