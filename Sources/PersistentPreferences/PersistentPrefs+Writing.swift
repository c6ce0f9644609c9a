import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The writes of the members of the class. What each of them stores is decided by `RootWrite`.
extension PersistentPrefs {
    /// A rejection rolls back the update that this write is part of, if any.
    ///
    /// - Parameters:
    ///   - root: the key of the root, if the access has read it already.
    ///   - reading: what the read has met that the write starts from.
    ///   - reportsFailure: evaluated if the write fails. False if the failure was reported already.
    /// - Returns: the error of this access, or the warning that it has stored something else than was asked for.
    @discardableResult
    func write(
        to root: String? = nil, after reading: AccessOutcome = AccessOutcome(),
        reportsFailure: @autoclosure () -> Bool = true,
        _ body: (Root, inout AccessOutcome) throws -> Void
    ) -> PrefsError? {
        let root = root ?? key
        var outcome = reading
        do {
            if ThreadState.rejectsWrites { throw PrefsError.writeInsideRead }
            try LockWait.within(writeTimeoutNow) { try body(Root(root, of: state), &outcome) }
            for other in outcome.others { report(other, of: .faultOfWrite) }
            report(outcome.warning)
            return outcome.warning.flatMap { $0.isOfWrite ? $0 : nil }
        } catch {
            let error = PrefsError(error).withoutPaths(ofSecrets: isSensitive)
            for other in outcome.others { report(other, of: .faultOfWrite) }
            // A malformed file is reported once. If it is the reason for the rejection, the write reports it.
            if let warning = outcome.warning, warning != error, !error.isMalformedFile {
                report(warning, of: .faultOfWrite)
            }
            if !outcome.hasReachedDomain { state.roots.refuse(error, root: root) }
            return reportsFailure() ? report(error) : error
        }
    }

    /// The limit of the class for a wait that begins now; nil if it has none, or if the task has one already.
    var writeTimeoutNow: Duration? {
        guard let limit = declarations.writeTimeout, LockWait.current == nil else { return nil }
        return limit
    }

    // MARK: - Keys

    func move(to newKey: String) {
        do {
            try NameVetting.checkRoot(newKey)
            state.key = newKey
            state.moveSubscribers()
            report(nil)
        } catch {
            report(error)
        }
    }

    func setValue(_ value: Any?, of name: String) {
        let allowed = self.allowed
        write { root, outcome in
            guard allowed.contains(name) else { throw PrefsError.incorrectKeys([name], among: allowed.list) }
            try root.commit(value.map { .object([name: $0]) } ?? .removal([name]), &outcome)
        }
    }

    /// Gives allowed keys new values in one transaction.
    func mergeValues(_ values: [String: Any]) {
        assign(merging: true) { values }
    }

    /// Gives allowed keys new values and removes the values of all other allowed keys, in one transaction.
    func replaceValues(with values: [String: Any]) {
        assign(merging: false) { values }
    }

    @discardableResult
    package func assign(merging: Bool, _ values: () throws -> [String: Any]) -> PrefsError? {
        write {
            let values = try values()
            try RootChange.checkKeys(of: values)
            try $0.commit(.assign(values, merging: merging, allowed), &$1)
        }
    }

    func removeValues(of names: [String]) -> PrefsError? {
        let allowed = self.allowed
        return write { root, outcome in
            let unknown = names.filter { !allowed.contains($0) }
            if !unknown.isEmpty { throw PrefsError.incorrectKeys(unknown, among: allowed.list) }
            try root.commit(.removal(names), &outcome)
        }
    }

    func clearValues() -> PrefsError? {
        write { try $0.commit(.clear(allowed), &$1) }
    }

    func removeRoot() -> PrefsError? {
        write { root, outcome in
            try root.roots.replacingMistakes { try root.commit(.remove(allowed), &outcome) }
        }
    }

    // MARK: - Updates

    /// Makes the accesses in the body one transaction, as `update` does, and reports each failure once.
    func join(timeout: Duration? = nil, _ body: () throws -> Void) rethrows -> PrefsError? {
        try transact(
            timeout, repeatsFailures: false,
            { _, _ in
                try body()
                return nil
            }, rescue: { throw $0 })
    }

    /// Runs a body of the user in one transaction. The body returns the visible values before and after it; nil if it
    /// wrote only through other accesses.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait before the body runs.
    ///   - repeatsFailures: whether a failure that an access in the body has reported is reported again, for the whole.
    func transact(
        _ timeout: Duration?, repeatsFailures: Bool = true,
        _ body: (_ stored: [String: StoredValue]?, AllowedKeys) throws -> (
            before: VisibleValues, after: [String: Any]
        )?,
        rescue: (any Error) throws -> Void
    ) rethrows -> PrefsError? {
        var thrown: (any Error)?
        var isReported = false
        let failure = write(reportsFailure: repeatsFailures || !isReported) { root, outcome in
            let allowed = self.allowed
            try LockWait.within(timeout) {
                try root.transact(&outcome) { stored in
                    let change: (before: VisibleValues, after: [String: Any])?
                    do {
                        change = try body(stored, allowed)
                        isReported = Transaction.current?.hasFailed == true
                    } catch {
                        thrown = error
                        throw error
                    }
                    return try change.map {
                        try RootChange(
                            from: $0.before.values, shownAs: $0.before.objects, to: $0.after,
                            allowed: allowed)
                    }
                }
            }
        }
        if let thrown { try rescue(thrown) }
        return failure
    }

    /// The result of an update before its body runs. A store of your own may end the update without running it.
    static func missingResult<R>(_ type: R.Type) -> Result<R, PrefsError> { .failure(.unknownError(error: nil)) }

    /// The result of an update that has ended.
    static func outcome<R>(_ result: Result<R, PrefsError>, _ failure: PrefsError?) -> Result<R, PrefsError> {
        if let failure, !failure.isWarning { return .failure(failure) }
        return result
    }
}

// MARK: - Changes in place

/// A value during a change in place.
///
/// If the read failed, the changed default does not replace the stored value.
struct InPlaceChange<Value> {
    let root: String
    /// The durability of the state in which the root was read.
    var durability = CommitDurability.notStored
    /// The current value, or the default if the read failed.
    var value: Value
    /// What the read has met.
    var outcome = AccessOutcome()
    /// Why the value could not be read.
    var failure: PrefsError?
}

extension PersistentPrefs {
    /// Starts a change in place. The outcome of the read is reported with the outcome of the change.
    ///
    /// - Parameter name: the key of the only value that is read; nil for all.
    func changeInPlace<Value>(
        from defaultValue: Value, of name: String? = nil, _ read: (RootView, inout AccessOutcome) throws -> Value
    ) -> InPlaceChange<Value> {
        var change = InPlaceChange(root: key, value: defaultValue)
        do {
            let view = try Root(change.root, of: state).view(of: name, isForWriting: true, &change.outcome)
            change.durability = view.durability
            change.value = try read(view, &change.outcome)
            // A value of layers must not replace a stored one that was passed over.
            if change.outcome.hasPassedOverBase { change.failure = change.outcome.warning }
        } catch {
            change.failure = PrefsError(error)
        }
        return change
    }

    func commit<Value>(
        _ change: InPlaceChange<Value>, _ store: (Value, Root, inout AccessOutcome) throws -> Void
    ) {
        write(to: change.root, after: change.outcome) {
            if let failure = change.failure { throw failure }
            try store(change.value, $0, &$1)
        }
    }

    typealias VisibleValues = RootInstance.VisibleValues

    func valuesForChange() -> InPlaceChange<VisibleValues> {
        changeInPlace(from: .nothing) { state.visibleValues(try $0.values(&$1), allowed) }
    }

    /// Ends a change that threw. Stores nothing, and reports the outcome of the read.
    func abandonChange(from start: InPlaceChange<VisibleValues>) {
        report(start.outcome.warning ?? start.failure)
    }

    func commitChange(from start: InPlaceChange<VisibleValues>, to after: [String: Any]) {
        commit(start) { before, root, outcome in
            let change = try RootChange(
                from: before.values, shownAs: before.objects, to: after, allowed: allowed)
            try root.commit(change, over: start.durability, &outcome)
        }
    }
}
