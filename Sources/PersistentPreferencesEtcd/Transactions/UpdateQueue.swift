import PersistentPreferences
import PrefsFileEngine

/// Lets the threads of a process take turns in the updates of a namespace, and commit together.
///
/// `GroupCommit` is the only part of the package's lower targets that this target uses. A store without it commits each update alone.
final class UpdateQueue: Sendable {
    /// The turn has not come in time.
    struct Timeout: Error {}

    private let batches = GroupCommit<EtcdSession>()

    /// Runs the body as a member of a batch, and waits for the commit of the batch.
    ///
    /// - Parameter begin: called for the first member of a batch.
    func run(
        until deadline: EtcdClient.Deadline, begin: () throws -> EtcdSession, _ body: (EtcdSession) throws -> Void
    ) throws {
        let batch = try enter(until: deadline, begin)
        let result = Result { try body(batch.group) }
        let outcome = batches.leave(batch)
        try result.get()
        try outcome.get()
    }

    private func enter(
        until deadline: EtcdClient.Deadline, _ begin: () throws -> EtcdSession
    ) throws -> GroupCommit<EtcdSession>.Batch {
        do {
            return try batches.enter(until: deadline, begin)
        } catch is GroupCommit<EtcdSession>.Timeout {
            throw Timeout()
        }
    }
}

extension EtcdSession: CommitGroup {}
