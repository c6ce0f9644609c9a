import Foundation
import PersistentPreferences

/// The commits. `EtcdLock` describes them.
extension EtcdLock {
    /// What became of a change that may be applied again.
    enum Attempt {
        case done
        /// Another client was faster; the roots as they are now.
        case conflict([String: StoredRoot])
        /// A body runs or waits for its turn, or the key of the protocol has changed.
        case isLocked
    }

    private func request(_ changes: RootChanges, _ operation: String) -> TxnRequest {
        let (client, version) = state.withLock { ($0.client, $0.version ?? 0) }
        var request = TxnRequest()
        request.compare = changes.found.map { .modified(keys.root($0), in: $1.revisionInEtcd) }
        request.compare.append(.modified(keys.marker(client.name), in: client.marker))
        request.compare.append(.modified(keys.version, in: version))
        for (root, result) in changes.results {
            request.success.append(result.data.map { .put(keys.root(root), $0) } ?? .delete(keys.root(root)))
        }
        request.success += ending(operation, of: client, beside: changes.results.count)
        if version == 0 { request.success.append(.put(keys.version, EtcdProtocol.current)) }
        request.failure = [.range(RangeRequest(key: keys.marker(client.name)))]
        return request
    }

    private func finish(_ changes: RootChanges, _ operation: String, at revision: Int64) {
        finish(at: revision, beside: changes.results.count)
        state.withLock { if $0.version == 0 { $0.version = revision } }
        watch.confirm(operation, at: revision)
    }

    private func begin(_ operation: String, _ steps: [RootStep]) {
        let (name, hasMarker) = state.withLock { ($0.client.name, $0.client.marker > 0) }
        let transaction = OwnTransaction(
            operation: operation, marker: keys.marker(name), hasMarker: hasMarker, steps: steps)
        watch.state.withLock { $0.own.append(transaction) }
    }

    private func giveUp(_ operation: String, isUnknown: Bool) {
        watch.state.withLock { $0.giveUp(operation, isUnknown: isUnknown) }
    }

    // MARK: - Under the lock

    /// Stores the changes of a session that has tickets, together with the marker and the end of the tickets.
    func commit(_ changes: RootChanges) throws {
        let operation = ClientIdentity.newOperation()
        begin(operation, changes.steps)
        let deadline = Deadline.now + patience
        var rejection = keys.notStored("another client has changed the roots of this update, or the lock was lost")
        let revision: Int64?
        var rounds = 0
        do {
            var reply: TxnReply
            repeat {
                rounds += 1
                var request = request(changes, operation)
                request.failure.append(.range(RangeRequest(key: keys.version)))
                if let ticket = changes.ticket { request.compare.append(.modified(ticket.key, in: ticket.revision)) }
                reply = try client.commit(request, until: deadline)
                // Another client may have put the key of the protocol just before.
            } while !reply.succeeded && isVersionNew(reply, &rejection)
            if let done = reply.revisionIfDone {
                finish(changes, operation, at: done)
                return release()
            }
            revision = try self.revision(ofRejected: operation, reply, until: deadline)
        } catch let failure as EtcdFailure {
            rejection = .notStored(keys.failure(failure))
            do throws(PrefsError) {
                revision = try self.revision(ofFailed: operation, failure, wasSent: rounds > 1, until: deadline)
            } catch {
                giveUp(operation, isUnknown: true)
                throw error
            }
        }
        if let revision { return watch.confirm(operation, at: revision) }
        giveUp(operation, isUnknown: false)
        throw rejection
    }

    /// Whether the key of the protocol is another one than was compared, and allows to write. If it does not, a copy of the commit may have
    /// been carried out before all the same.
    private func isVersionNew(_ reply: TxnReply, _ rejection: inout PrefsError) -> Bool {
        guard reply.ranges.count > 1 else { return false }
        let former = state.withLock { $0.version }
        do throws(EtcdFailure) { try checkVersion(reply.ranges[1].first) } catch {
            rejection = .notStored(keys.failure(error))
            return false
        }
        return state.withLock { $0.version } != former
    }

    /// Finds out whether a copy of a commit was carried out, after etcd has rejected the last one. Afterwards no copy is carried out any more.
    ///
    /// - Returns: the revision; nil if none was.
    private func revision(
        ofRejected operation: String, _ reply: TxnReply, until deadline: Deadline
    ) throws(PrefsError) -> Int64? {
        abandon()
        do throws(EtcdFailure) {
            guard reply.ranges.first?.first != nil || identity.marker == 0 else {
                forgetIdentity()
                throw EtcdFailure("the marker of this client was removed")
            }
            return try fence(after: operation, until: deadline)
        } catch {
            giveUp(operation, isUnknown: true)
            throw .outcomeUnknown(keys.failure(error))
        }
    }

    /// The revision of a commit that has ended with a failure, if it was carried out. Throws `outcomeUnknown` if nobody knows.
    ///
    /// - Parameter wasSent: whether an earlier request of the same operation may be carried out.
    private func revision(
        ofFailed operation: String, _ failure: EtcdFailure, wasSent: Bool, until deadline: Deadline
    ) throws(PrefsError) -> Int64? {
        abandon()
        let unknown = PrefsError.outcomeUnknown(keys.failure(failure))
        guard case .rejected(let code) = failure.kind else {
            if failure.mayBeDone || wasSent { throw unknown }
            return nil
        }
        do throws(EtcdFailure) {
            return try fence(after: operation, until: deadline)
        } catch {
            // A cluster without space rejects the fence, too. It has told the marker before: the commit was not carried out.
            guard error.isRejected(code), !failure.hadUnknownAttempt else { throw unknown }
            return nil
        }
    }

    // MARK: - Without the lock

    /// Tries to store a change that is data. All tries of a change have one operation: each compares the marker, so one of them is carried
    /// out at most, and the marker says whether one was.
    ///
    /// - Parameter wasSent: whether there was a try before.
    func attempt(_ changes: RootChanges, as operation: String, wasSent: Bool) throws -> Attempt {
        begin(operation, changes.steps)
        var request = request(changes, operation)
        let found = Array(changes.found)
        request.compare += changes.results.keys.map { .none(keys.tickets($0)) }
        request.failure += found.map { .range(RangeRequest(key: keys.root($0.key))) }
        do throws(EtcdFailure) {
            let reply = try client.commit(request, until: .now + patience)
            if let done = reply.revisionIfDone {
                finish(changes, operation, at: done)
                return .done
            }
            let ranges = reply.ranges
            guard ranges.count == request.failure.count else {
                throw EtcdFailure("the answer is not complete", .unknown)
            }
            let marker = ranges[0].first
            let roots = zip(found, ranges.dropFirst()).map { ($0.key, StoredRoot($1.first)) }
            if marker?.operation == operation, let done = marker?.modified {
                if !wasSent {
                    finish(changes, operation, at: done)
                    return .done
                }
                // Nobody knows which try it was, and what it has made of the roots.
                giveUp(operation, isUnknown: false)
                finish(at: done, beside: changes.results.count)
                watch.state.withLock { state in
                    for (root, stored) in roots { state.advance(root, to: stored, in: reply.revision) }
                }
                return .done
            }
            giveUp(operation, isUnknown: false)
            let former = state.withLock { $0.client.marker }
            guard marker != nil || former == 0 else {
                forgetIdentity()
                throw EtcdFailure("the marker of this client was removed", .unknown)
            }
            let hadMarker = marker?.modified ?? 0 == former
            state.withLock { $0.client.marker = marker?.modified ?? 0 }
            if !hadMarker || zip(found, roots).contains(where: { $0.value.revisionInEtcd != $1.1.revisionInEtcd }) {
                return .conflict(Dictionary(uniqueKeysWithValues: roots))
            }
            // There is a ticket, or another protocol.
            state.withLock { $0.version = nil }
            return .isLocked
        } catch {
            return try attemptFailed(operation, error, of: changes, wasSent: wasSent)
        }
    }

    private func attemptFailed(
        _ operation: String, _ failure: EtcdFailure, of changes: RootChanges, wasSent: Bool
    ) throws(PrefsError) -> Attempt {
        let revision: Int64?
        do throws(PrefsError) {
            revision = try self.revision(ofFailed: operation, failure, wasSent: wasSent, until: .now + patience)
        } catch {
            giveUp(operation, isUnknown: true)
            throw error
        }
        guard let revision else {
            giveUp(operation, isUnknown: false)
            throw .notStored(keys.failure(failure))
        }
        if wasSent {
            giveUp(operation, isUnknown: false)
            readAgain(changes.results.keys)
        } else {
            watch.confirm(operation, at: revision)
        }
        return .done
    }

    /// Takes the state of roots that a try of unknown content has stored, so that the reads that follow have it. If this fails, the stream
    /// brings it.
    private func readAgain(_ roots: some Sequence<String>) {
        for root in roots {
            guard let reply = try? client.range(RangeRequest(key: keys.root(root)), until: .now + patience) else {
                continue
            }
            watch.state.withLock { $0.advance(root, to: StoredRoot(reply.kvs.first), in: reply.revision) }
        }
    }

    /// Makes sure that no try of a change is carried out any more.
    ///
    /// - Returns: true if one was.
    func endAttempts(of operation: String, on roots: Set<String>) throws(PrefsError) -> Bool {
        do throws(EtcdFailure) {
            guard try fence(after: operation, until: .now + patience) != nil else { return false }
            readAgain(roots)
            return true
        } catch {
            abandon()
            throw .outcomeUnknown(keys.failure(error))
        }
    }
}
