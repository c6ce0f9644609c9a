import Foundation

/// The error of a system call of a baseline.
struct SystemError: Error, CustomStringConvertible {
    let operation: String
    let code: Int32

    var description: String { "\(operation): \(String(cString: strerror(code)))" }

    @discardableResult
    static func check<Count: SignedInteger>(_ result: Count, _ operation: String) throws -> Count {
        guard result >= 0 else { throw SystemError(operation: operation, code: errno) }
        return result
    }
}
