import Foundation
import PrefsPropertyLists

/// Calls the failure handlers. A handler is not called from within itself, because one that reads an unreadable root
/// would recurse without end.
package enum FailureHandler {
    private struct Call: Hashable {
        let subject: ObjectIdentifier
        let thread: pthread_t
    }

    private static let running = Locked<Set<Call>>([])

    /// Runs the handler of a subject, unless this thread is in it already.
    ///
    /// - Returns: whether it has run.
    @discardableResult
    package static func run(for subject: ObjectIdentifier, _ handler: () -> Void) -> Bool {
        let call = Call(subject: subject, thread: pthread_self())
        guard running.withLock({ $0.insert(call).inserted }) else { return false }
        defer { _ = running.withLock { $0.remove(call) } }
        handler()
        return true
    }
}
