import Foundation

/// The errors that `prefsDidFail` has received.
final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var reported: [String] = []

    func add(_ failure: String) { lock.withLock { reported.append(failure) } }

    var all: [String] { lock.withLock { reported } }
}
