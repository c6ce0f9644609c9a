import Dispatch
import PersistentPreferences
import PrefsFileEngine

/// Lets the threads of a process take turns in the updates that lock the same roots, and commit together.
///
/// `GroupCommit` is the only part of the package's lower targets that this target uses. A store without it commits each update alone.
final class UpdateQueue: Sendable {
    private let batches = GroupCommit<EtcdSession>()
    /// Signalled when no transaction runs.
    let turn = DispatchSemaphore(value: 0)
    /// The threads that have the queue. Belongs to the namespace.
    nonisolated(unsafe) var users = 0

    init() {
        turn.signal()
    }

    /// Runs the body as a member of a batch, and waits for the commit of the batch.
    ///
    /// - Parameters:
    ///   - timeout: thrown if the turn has not come until the deadline.
    ///   - begin: called for the first member of a batch.
    func run(
        until deadline: EtcdClient.Deadline, orThrow timeout: @autoclosure () -> PrefsError,
        begin: () throws -> EtcdSession, _ body: (EtcdSession) throws -> Void
    ) throws {
        do {
            let batch = try batches.enter(until: deadline, begin)
            let result = Result { try body(batch.group) }
            let outcome = batches.leave(batch)
            try result.get()
            try outcome.get()
        } catch is GroupCommit<EtcdSession>.Timeout {
            throw timeout()
        }
    }
}

extension EtcdSession: CommitGroup {}
