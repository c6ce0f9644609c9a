import Foundation

/// What `prefsDidFail` was called with.
final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var reported: [String] = []

    func add(_ failure: String) { lock.withLock { reported.append(failure) } }

    var all: [String] { lock.withLock { reported } }
}
