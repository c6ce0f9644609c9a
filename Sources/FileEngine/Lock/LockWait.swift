package import Foundation
import PrefsPropertyLists

/// Limits how long the writes of a task wait: for their turn in this process, and for the lock that keeps other
/// processes out. By default a write waits without a limit. The time in which the machine sleeps does not count.
package struct LockWait: Sendable {
    /// The longest wait in seconds; nil to wait without a limit.
    private let timeout: TimeInterval?
    /// The end of every wait; nil if each one may take as long as the timeout.
    private let end: DispatchTime?
    /// Called once in a wait that takes longer than a second.
    private let notice: (@Sendable (String) -> Void)?

    @TaskLocal package static var current: LockWait?

    private static let patience: TimeInterval = 1

    /// Limits the wait for each lock.
    ///
    /// - Parameter timeout: in seconds.
    package init(timeout: TimeInterval?, notice: @escaping @Sendable (String) -> Void) {
        (self.timeout, end, self.notice) = (timeout, nil, notice)
    }

    /// Limits all waits from now on together.
    private init(within timeout: Duration) {
        let seconds = max(0, timeout / .seconds(1))
        // A timeout of more than a year counts as none, because the arithmetic of clocks could overflow.
        (self.timeout, end, notice) = (seconds, seconds < Self.forEver ? .now() + seconds : nil, nil)
    }

    private static let forEver: TimeInterval = 366 * 86_400

    /// Runs the closure so that its writes throw `FileError.busy` if they cannot begin in time.
    ///
    /// - Parameter timeout: nil changes nothing.
    package static func within<R>(_ timeout: Duration?, _ body: () throws -> R) rethrows -> R {
        guard let timeout else { return try body() }
        return try $current.withValue(LockWait(within: timeout), operation: body)
    }

    /// Runs an asynchronous closure so that its writes throw `FileError.busy` if they cannot begin in time. The closure
    /// gets the end of the wait.
    package static func within<R>(
        _ timeout: Duration?, isolation: isolated (any Actor)? = #isolation,
        _ body: (_ end: DispatchTime?) async throws -> R
    ) async rethrows -> R {
        guard let timeout else { return try await body(nil) }
        let wait = LockWait(within: timeout)
        return try await $current.withValue(wait, operation: { try await body(wait.end) }, isolation: isolation)
    }

    /// Runs a closure without the limit, because the body of an update may write to other places and start tasks.
    static func afterTheWait<R>(_ body: () throws -> R) rethrows -> R {
        current?.end == nil ? try body() : try $current.withValue(nil, operation: body)
    }

    /// The end of a wait that begins now; nil without a limit.
    var deadline: DispatchTime? {
        end ?? timeout.flatMap { $0 < Self.forEver ? .now() + $0 : nil }
    }

    /// The error of a thread whose turn did not come in time.
    ///
    /// - Parameter path: the path of the lock file; nil for a domain without a lock file.
    func lostTurn(_ path: String?) -> FileError {
        // Threads of this process wait for its own lock.
        let holders = path.map { LockHolder.all(of: $0).filter { $0.pid != getpid() } } ?? []
        let reason =
            holders.isEmpty
            ? "busy in another thread after \(seconds) s"
            : "still locked after \(seconds) s: \(LockHolder.text(of: holders))"
        return .busy(StorageFailure(path: path ?? "", reason: reason, code: ETIMEDOUT))
    }

    /// The error of a write that has waited too long for a program that is saving the file.
    func lostSave(_ path: String) -> FileError {
        .busy(
            StorageFailure(path: path, reason: "another program is still saving it after \(seconds) s", code: ETIMEDOUT)
        )
    }

    private var seconds: String {
        let seconds = timeout ?? 0
        return seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }

    /// Locks an open lock file.
    ///
    /// - Throws: `StorageFailure` with the code `ETIMEDOUT` after the timeout.
    func lock(
        _ descriptor: SystemCalls.Descriptor, at path: String, _ system: SystemCalls
    ) throws(StorageFailure) {
        guard try !Self.takes(descriptor, system) else { return }
        try OtherCopies.refuseWait(for: path)
        let deadline = deadline
        let patience = DispatchTime.now() + Self.patience
        let isPatient = deadline.map { $0 > patience } ?? true
        let attempt = try Attempt(descriptor, at: path, system)
        func succeeds(until deadline: DispatchTime?) throws(StorageFailure) -> Bool {
            guard let attempt else { return try Self.takes(descriptor, system, until: deadline) }
            return try attempt.succeeds(until: deadline)
        }
        if try succeeds(until: isPatient ? patience : deadline) { return }
        if isPatient {
            notice?("waiting for the lock \(path), \(Self.holder(of: path))")
            if try succeeds(until: deadline) { return }
        }
        if let attempt, try !attempt.giveUp() { return }
        throw StorageFailure(
            path: path, reason: "still locked after \(seconds) s: \(Self.holder(of: path))",
            code: ETIMEDOUT)
    }

    /// Who holds a lock that no transaction of this copy of the package holds.
    private static func holder(of path: String) -> String {
        let holders = LockHolder.all(of: path)
        let isOwn = holders.contains { $0.pid == getpid() }
        return isOwn ? "held by another copy of this package in this process" : LockHolder.text(of: holders)
    }

    /// Whether an attempt without a wait has found the lock held. SMB says EACCES of a lock that another process holds; if
    /// it is another reason, the wait ends with it.
    static func isHeld(_ error: StorageFailure) -> Bool { error.code == EWOULDBLOCK || error.code == EACCES }

    /// Tries to take the lock at intervals until the deadline, without a thread.
    private static func takes(
        _ descriptor: SystemCalls.Descriptor, _ system: SystemCalls, until deadline: DispatchTime? = .now()
    ) throws(StorageFailure) -> Bool {
        while true {
            do {
                try system.lock(descriptor, waits: false)
                return true
            } catch  where !isHeld(error) {
                throw error
            } catch {}
            if let deadline, deadline <= .now() { return false }
            usleep(10_000)
        }
    }

    /// A thread that waits for a lock. It waits in the system's queue, so other writers do not overtake it.
    private final class Attempt: Sendable {
        private struct State {
            var isOver = false
            var isAbandoned = false
            var failure: StorageFailure?
        }

        private let state = Locked(State())
        private let over = DispatchSemaphore(value: 0)
        private let path: String

        /// The lock files that a thread still waits for although its caller has given up.
        private static let abandoned = Locked(Set<String>())

        /// nil if a thread of an earlier attempt still waits for the lock, so that there is at most one. nil also if
        /// the system has no thread to give.
        init?(
            _ descriptor: SystemCalls.Descriptor, at path: String, _ system: SystemCalls
        ) throws(StorageFailure) {
            self.path = path
            if Self.abandoned.withLock({ $0.contains(path) }) { return nil }
            // A second descriptor of the open file, which has the lock. The first descriptor may be closed in the
            // meantime.
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
            guard copy >= 0 else { throw StorageFailure("dup", "", code: errno) }
            let file = OpenFile.kept(copy, system)
            let hasThread = DetachedThread.start { [self] in
                var failure: StorageFailure?
                do throws(StorageFailure) {
                    try system.lockRetrying(file.descriptor)
                } catch {
                    failure = error
                }
                let isAbandoned = state.withLock { [failure] state in
                    (state.isOver, state.failure) = (true, failure)
                    return state.isAbandoned
                }
                if isAbandoned {
                    if file.isIntact { system.unlock(file.descriptor) }
                    _ = Self.abandoned.withLock { $0.remove(path) }
                }
                over.signal()
            }
            if !hasThread { return nil }
        }

        func succeeds(until deadline: DispatchTime?) throws(StorageFailure) -> Bool {
            if let deadline {
                if over.wait(timeout: deadline) == .timedOut { return false }
            } else {
                over.wait()
            }
            if let failure = state.withLock({ $0.failure }) { throw failure }
            return true
        }

        /// - Returns: false if the lock was obtained at the last moment.
        func giveUp() throws(StorageFailure) -> Bool {
            // Before the thread can end.
            _ = Self.abandoned.withLock { $0.insert(path) }
            let (isAbandoned, failure) = state.withLock { state in
                state.isAbandoned = !state.isOver
                return (state.isAbandoned, state.failure)
            }
            if !isAbandoned { _ = Self.abandoned.withLock { $0.remove(path) } }
            if let failure { throw failure }
            return isAbandoned
        }
    }
}

// MARK: - Who holds the lock

/// A process that holds a lock.
package struct LockHolder: Sendable {
    package let pid: Int
    /// The name of the program; empty if it is unknown.
    package let name: String
    /// Whether the process does nothing until somebody continues it, also because it is frozen.
    package let isStopped: Bool
    /// Whether a control group of the process is frozen. No signal continues it.
    package let isFrozen: Bool
    package let isOwn: Bool

    package init(pid: Int, name: String, isStopped: Bool, isFrozen: Bool = false, isOwn: Bool) {
        self.pid = pid
        self.name = name
        self.isStopped = isStopped || isFrozen
        self.isFrozen = isFrozen
        self.isOwn = isOwn
    }

    /// `held by process 123 (sleepd), which is stopped`; the list is empty if the system does not name the holders.
    package static func text(of holders: [LockHolder]) -> String {
        if holders.isEmpty { return "held by another process" }
        return "held by process \(holders.map(\.text).joined(separator: ", and by "))"
    }

    private var text: String {
        let state =
            isFrozen ? ", which is stopped because its control group is frozen" : isStopped ? ", which is stopped" : ""
        return "\(pid) (\(name))\(state)"
    }
}

/// Other copies of this package in this process, such as the copy of a plugin beside that of its program.
///
/// An update of one copy whose body writes the same file through the other one would wait for ever for a lock of its own
/// thread. The copies share neither types nor variables, but Foundation: a notification without a queue calls the
/// observers of all copies on the thread that posts it.
enum OtherCopies {
    private static let question = Notification.Name("PersistentPreferences.isLockedByThisThread")

    /// Answers the questions of other copies from now on. Called once.
    ///
    /// - Parameter isLocked: whether this thread holds the lock, by the path of the lock file.
    static func answerQuestions(isLocked: @escaping @Sendable (String) -> Bool) {
        _ = NotificationCenter.default.addObserver(forName: question, object: nil, queue: nil) { notification in
            guard let path = notification.userInfo?["path"] as? String, isLocked(path) else { return }
            (notification.userInfo?["answers"] as? NSMutableArray)?.add(path)
        }
    }

    /// Rejects the wait for a lock that another copy holds for an update of this thread. Called if the lock is not free.
    ///
    /// - Parameter path: the path of the lock file.
    static func refuseWait(for path: String) throws(StorageFailure) {
        // In a forked child, the lock of the notification center may be held for ever.
        guard !ProcessMark.isInForkedChild else { return }
        let answers = NSMutableArray()
        NotificationCenter.default.post(name: question, object: nil, userInfo: ["path": path, "answers": answers])
        guard answers.count > 0 else { return }
        throw StorageFailure(
            path: path,
            reason: "held by an update on this thread in another copy of this package; link the package once,"
                + " in one dynamic library that exports it",
            code: EDEADLK)
    }
}
