import Foundation
import PersistentPreferences
import PrefsFileEngine

/// `PrefsStore.update`, and changes that are data.
extension EtcdNamespace {
    /// How often a change is applied again before it takes a ticket.
    private static let mostAttempts = 8

    /// Runs a body once, under the lock of its root.
    ///
    /// - Parameter others: roots that are locked before the body runs, too.
    func update(_ root: String, alsoLocking others: [String], _ member: RemoteMember) throws {
        let deadline = deadline
        let roots = Set([root] + others).sorted()
        if roots.count > EtcdSession.mostRoots { throw EtcdSession.tooManyRoots(keys) }
        try withQueue(of: roots) { queue in
            let batch: GroupCommit<EtcdSession>.Batch
            do {
                batch = try queue.batches.enter(until: .now() + (deadline - .now) / .seconds(1)) {
                    let lock = try takeTurn(of: queue, until: deadline)
                    do {
                        return try lockedSession(roots, lock, until: deadline) { self.endTurn(of: queue, lock) }
                    } catch {
                        endTurn(of: queue, lock)
                        throw error
                    }
                }
            } catch is GroupCommit<EtcdSession>.Timeout {
                throw timeout
            }
            let outcome = Result { try batch.group.run(member) }
            let commit = queue.batches.leave(batch)
            try outcome.get()
            try commit.get()
        }
    }

    /// - Parameter roots: in their order.
    private func lockedSession(
        _ roots: [String], _ lock: EtcdLock, until deadline: Deadline, end: @escaping () -> Void
    ) throws -> EtcdSession {
        let stored = try lock.acquire(roots[0], until: deadline)
        let session = EtcdSession(self, lock, stored, of: roots[0], end: end)
        do {
            for root in roots.dropFirst() { try session.access(root) }
        } catch {
            lock.release()
            throw error
        }
        return session
    }

    /// Applies a change to the root as it is known, and again to the newer root if another client was faster.
    func change(_ root: String, _ member: RemoteMember) throws {
        let deadline = deadline
        try withQueue(of: [root]) { queue in
            let lock = try takeTurn(of: queue, until: deadline)
            defer { endTurn(of: queue, lock) }
            try change(root, lock, until: deadline, member)
        }
    }

    private func change(_ root: String, _ lock: EtcdLock, until deadline: Deadline, _ member: RemoteMember) throws {
        do throws(EtcdFailure) {
            try lock.prepare(forTicket: false)
        } catch {
            throw PrefsError.notStored(keys.failure(error))
        }
        let operation = ClientIdentity.newOperation()
        var newest: [String: StoredRoot] = [:]
        var attempts = 0
        // The roots that a try may have stored.
        var tried: Set<String> = []
        while attempts < Self.mostAttempts, .now < deadline {
            let session = EtcdSession(self, knowing: newest)
            let outcome = Result { try session.run(member) }
            if session.isNewest {
                // Rejected, or equal to what is there.
                if case .failure = outcome, try attempts > 0 && lock.endAttempts(of: operation, on: tried) { return }
                try outcome.get()
            }
            if session.changes.results.isEmpty {
                if session.isNewest {
                    if attempts > 0 { _ = try lock.endAttempts(of: operation, on: tried) }
                    return
                }
                // What is known may be old, so it decides nothing.
                for root in session.changes.found.keys { newest[root] = try self.newest(root) }
                continue
            }
            tried.formUnion(session.changes.results.keys)
            switch try lock.attempt(session.changes, as: operation, wasSent: attempts > 0) {
            case .done: return
            case .conflict(let roots): newest = roots
            case .isLocked: attempts = Self.mostAttempts
            }
            attempts += 1
            if attempts < Self.mostAttempts { poll(nil, 0, .random(in: 0...(1 << Int32(attempts)))) }
        }
        if try attempts > 0 && lock.endAttempts(of: operation, on: tried) { return }
        let session = EtcdSession(self, lock, try lock.acquire(root, until: deadline), of: root)
        let outcome = Result { try session.run(member) }
        try session.commit()
        try outcome.get()
    }

    // MARK: - Turns

    /// Gives the closure the queue of the updates that lock these roots, which exists as long as one of them does.
    private func withQueue<R>(of roots: [String], _ body: (UpdateQueue) throws -> R) rethrows -> R {
        let queue = queues.withLock { queues in
            let queue = queues[roots] ?? UpdateQueue()
            queue.users += 1
            queues[roots] = queue
            return queue
        }
        defer {
            queues.withLock { queues in
                queue.users -= 1
                if queue.users == 0 { queues[roots] = nil }
            }
        }
        return try body(queue)
    }

    private var timeout: PrefsError { keys.notStored("timed out waiting for updates of other threads of this process") }

    /// Waits until no other transaction of the queue runs, and takes a lock.
    private func takeTurn(of queue: UpdateQueue, until deadline: Deadline) throws(PrefsError) -> EtcdLock {
        guard queue.turn.wait(until: deadline) else { throw timeout }
        if let lock = locks.take(until: deadline) { return lock }
        queue.turn.signal()
        throw timeout
    }

    private func endTurn(of queue: UpdateQueue, _ lock: EtcdLock) {
        locks.giveBack(lock)
        queue.turn.signal()
    }
}
