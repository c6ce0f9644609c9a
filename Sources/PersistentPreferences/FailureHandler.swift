import Foundation
import PrefsPropertyLists

/// Calls the failure handlers. A handler is not called from within itself, because one that reads an unreadable root
/// would recurse without end.
package enum FailureHandler {
    private struct Call: Equatable {
        let subject: ObjectIdentifier
        let thread: pthread_t
    }

    private static let running = Locked<[Call]>([])

    /// Runs the handler of a subject, unless this thread is in it already.
    ///
    /// - Returns: whether it has run.
    @discardableResult
    package static func run(for subject: ObjectIdentifier, _ handler: () -> Void) -> Bool {
        let call = Call(subject: subject, thread: pthread_self())
        let isFirst = running.withLock { calls in
            if calls.contains(call) { return false }
            calls.append(call)
            return true
        }
        guard isFirst else { return false }
        defer { running.withLock { $0.removeAll { $0 == call } } }
        handler()
        return true
    }
}
