import PersistentPreferences

/// The errors that `prefsDidFail` has received.
final class Failures: Sendable {
    private let reported = Locked<[String]>([])

    func add(_ failure: String) { reported.withLock { $0.append(failure) } }

    var all: [String] { reported.withLock { $0 } }
}
