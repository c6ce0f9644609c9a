package import Foundation
import PrefsPropertyLists

/// How the writes of a task wait for locks. A command-line tool says who holds a lock, and gives up after a while. Without it, a write
/// waits for as long as it takes.
package struct LockWait: Sendable {
    /// Seconds; nil to wait for ever.
    let timeout: TimeInterval?
    /// Describes the processes that hold the lock file at a path, as a clause.
    let holders: @Sendable (String) -> String
    /// Called once in a wait that takes longer than a second.
    let notice: @Sendable (String) -> Void

    @TaskLocal package static var current: LockWait?

    private static let patience: TimeInterval = 1

    package init(
        timeout: TimeInterval?, holders: @escaping @Sendable (String) -> String,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.timeout = timeout
        self.holders = holders
        self.notice = notice
    }

    /// Locks an open lock file.
    ///
    /// - Throws: `StorageFailure` after the timeout.
    func lock(
        _ descriptor: SystemCalls.Descriptor, at path: String, _ system: SystemCalls
    ) throws(StorageFailure) {
        do {
            return try system.lock(descriptor, waits: false)
        } catch  where error.code != EWOULDBLOCK {
            throw error
        } catch {}
        let attempt = try Attempt(descriptor, system)
        if let timeout, timeout <= Self.patience {
            if attempt.succeeds(within: timeout) { return }
        } else {
            if attempt.succeeds(within: Self.patience) { return }
            notice("waiting for the lock \(path), \(holders(path))")
            if attempt.succeeds(within: timeout.map { $0 - Self.patience }) { return }
        }
        guard attempt.giveUp() else { return }
        throw StorageFailure(path: path, reason: "still locked after \(timeout ?? 0) s: \(holders(path))")
    }

    /// A thread that waits for a lock. It waits in the system's queue, so other writers do not overtake it.
    private final class Attempt: Sendable {
        private struct State {
            var isOver = false
            var isAbandoned = false
        }

        private let state = Locked(State())
        private let over = DispatchSemaphore(value: 0)

        init(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) throws(StorageFailure) {
            // A second descriptor of the same open file, which has the lock. The first one may be closed meanwhile.
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
            guard copy >= 0 else { throw StorageFailure("dup", "", code: errno) }
            let file = OpenFile.kept(copy, system)
            Thread.detachNewThread { [self] in
                // If this fails, the caller tries again, and reports the error.
                try? system.lockRetrying(file.descriptor)
                let isAbandoned = state.withLock { state in
                    state.isOver = true
                    return state.isAbandoned
                }
                if isAbandoned, file.isIntact { system.unlock(file.descriptor) }
                over.signal()
            }
        }

        func succeeds(within seconds: TimeInterval?) -> Bool {
            over.wait(timeout: seconds.map { .now() + $0 } ?? .distantFuture) == .success
        }

        /// - Returns: false if the lock was obtained in the last moment.
        func giveUp() -> Bool {
            state.withLock { state in
                state.isAbandoned = !state.isOver
                return state.isAbandoned
            }
        }
    }
}
