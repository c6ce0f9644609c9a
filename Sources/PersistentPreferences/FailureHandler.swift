import Foundation
import PrefsPropertyLists

/// Calls the handlers of failures, and none from within itself: one that reads what cannot be read would have no end.
enum FailureHandler {
    private struct Call: Hashable {
        let subject: ObjectIdentifier
        let thread: pthread_t
    }

    private static let lock = Lock()
    nonisolated(unsafe) private static var running: Set<Call> = []

    /// Runs the handler of a subject, unless this thread is in it already.
    static func run(for subject: ObjectIdentifier, _ handler: () -> Void) {
        let call = Call(subject: subject, thread: pthread_self())
        guard lock.withLock({ running.insert(call).inserted }) else { return }
        defer { _ = lock.withLock { running.remove(call) } }
        handler()
    }
}
