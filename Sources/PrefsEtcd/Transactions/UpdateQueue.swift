import Foundation
import PrefsFileEngine

/// Lets the threads of a process take turns in the updates that lock the same roots, and commit together.
///
/// `GroupCommit` of the package makes one commit of several updates.
final class UpdateQueue: Sendable {
    let batches = GroupCommit<EtcdSession>()
    /// Signalled when no transaction runs.
    let turn = DispatchSemaphore(value: 0)
    /// The threads that have the queue. Belongs to the namespace.
    nonisolated(unsafe) var users = 0

    init() {
        turn.signal()
    }
}

extension EtcdSession: CommitGroup {}
