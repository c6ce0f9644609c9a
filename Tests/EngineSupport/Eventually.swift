import Foundation
import TestSupport
package import Testing

/// Waits until a value is the expected one. A wait that is too long ends, and is an issue that names the last value.
package func expectEventually<Value: Equatable>(
    _ value: @autoclosure () throws -> Value, is expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) rethrows {
    try expectEventually(
        value(), "\(String(describingForTest: expected))", sourceLocation: sourceLocation, until: { $0 == expected })
}

/// Waits until a value satisfies a condition. A wait that is too long ends, and is an issue that names the last value.
///
/// - Parameter expected: what the condition says, as in `expected more than 2, found 1`.
package func expectEventually<Value>(
    _ value: @autoclosure () throws -> Value, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation,
    until isExpected: (Value) throws -> Bool
) rethrows {
    let end = Patience.deadline
    while true {
        let last = try value()
        if try isExpected(last) { return }
        guard .now < end else {
            let failure = Patience.failure("expected \(expected), found \(String(describingForTest: last))")
            Issue.record("\(failure)", sourceLocation: sourceLocation)
            return
        }
        poll(nil, 0, 2)
    }
}
