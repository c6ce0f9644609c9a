import Foundation
import PrefsFileEngine

/// Every access runs in one of these functions, which set `lastError` to the error that is thrown.
extension PersistentPrefs {
    /// - Parameters:
    ///   - root: the key of the root, if the access has read it already.
    ///   - name: the key of the only value that is read; nil for all.
    ///   - onlyIfAllowed: whether the read of a key that is not allowed fails.
    /// - Returns: nil if the access failed.
    @discardableResult
    func read<R>(
        _ root: String? = nil, of name: String? = nil, onlyIfAllowed: Bool = false,
        _ body: (RootView, inout AccessOutcome) throws -> R
    ) -> R? {
        var outcome = AccessOutcome(of: state)
        let past = PastState.current(of: state)
        var revision: Revision?
        do {
            let root = try Root(root ?? key, of: state)
            if onlyIfAllowed, let name, case let allowed = allowedKeys, !allowed.contains(name) {
                throw PrefsError.incorrectKeys([name], among: allowed)
            }
            if let past { return try body(root.view(of: past.entry), &outcome) }
            let view = try root.view(of: name, &outcome)
            revision = view.revision
            let result = try body(view, &outcome)
            reportRead(outcome.warning, of: name, at: revision)
            return result
        } catch {
            // Reports the warning too, because no later access would.
            if past == nil { reportFailure(PrefsError(error), after: outcome.warning, of: name, at: revision) }
            return nil
        }
    }

    @inline(never)
    private func reportFailure(
        _ error: PrefsError, after warning: PrefsError?, of name: String?, at revision: Revision?
    ) {
        if let warning, warning != error { reportRead(warning, of: name, at: revision) }
        reportRead(error, of: name, at: revision)
    }

    /// A rejection rolls back the update that this write is part of, if any.
    ///
    /// - Parameters:
    ///   - root: the key of the root, if the access has read it already.
    ///   - warning: the warning of the read.
    ///   - reportsFailure: evaluated if the write fails. False if the failure was reported already.
    /// - Returns: the error of this access; nil if it succeeded, with or without a warning.
    @discardableResult
    func write(
        to root: String? = nil, after warning: PrefsError? = nil, reportsFailure: @autoclosure () -> Bool = true,
        _ body: (Root, inout AccessOutcome) throws -> Void
    ) -> PrefsError? {
        let root = root ?? key
        var outcome = AccessOutcome(of: state, warning: warning, isOfWrite: true)
        do {
            if Transaction.rejectsWrites { throw PrefsError.writeInsideRead }
            try LockWait.within(lockTimeoutNow) { try body(Root(root, of: state), &outcome) }
            report(outcome.warning)
            return nil
        } catch {
            let error = PrefsError(error)
            // A malformed file is reported once. If it is the reason for the rejection, the write reports it.
            if let warning = outcome.warning, warning != error, !error.isMalformedFile { report(warning) }
            if !outcome.hasReachedDomain { state.roots.refuse(error, root: root) }
            return reportsFailure() ? report(error) : error
        }
    }

    /// The limit of the class for a wait that begins now; nil if it has none, or if the task has one already.
    var lockTimeoutNow: Duration? {
        guard let limit = declarations.lockTimeout, LockWait.current == nil else { return nil }
        return limit
    }

    /// Calls the closure for each error of this instance, after ``prefsDidFail(_:)``.
    ///
    /// ```swift
    /// let observation = prefs.onError { error in print(error) }
    /// ```
    ///
    /// Keep the result: releasing it ends the calls. The closure runs on the thread of the access, after every lock is
    /// released. Each rejected write is reported. A fault that reads meet is reported once: a value that does not fit,
    /// for each state of the store; a store that cannot be read, until a read succeeds. After an `update`, it runs for
    /// each write that failed inside it and for the update itself. If an access of the same instance fails in a closure,
    /// that access sets ``lastError`` and no closure is called again. Warnings are reported, too
    /// (``PrefsError/isWarning``). Several closures are called in the order of their registration. Any thread.
    public func onError(_ action: @escaping @Sendable (PrefsError) -> Void) -> PrefsObservation {
        let number = state.addErrorHandler(action)
        return PrefsObservation { [weak state] in state?.removeErrorHandler(number) }
    }

    @discardableResult
    func report(_ error: PrefsError?) -> PrefsError? {
        if state.isNews(error) { setLastError(error) }
        if let error { notify(of: error) }
        return error
    }

    /// Reports the outcome of a read. A fault is told once.
    ///
    /// - Parameters:
    ///   - name: the key that was read; nil for the whole root.
    ///   - revision: the revision of the state that was read.
    func reportRead(_ error: PrefsError?, of name: String? = nil, at revision: Revision? = nil) {
        guard let error else {
            if state.isNews(afterReadOf: name) { setLastError(nil) }
            return
        }
        if state.isNews(error) { setLastError(error) }
        tell(error, of: name, at: revision)
    }

    /// Calls the failure handler for a fault that a read has met, unless it was called for it before.
    func tell(_ error: PrefsError, of name: String? = nil, at revision: Revision? = nil) {
        if let news = state.news(in: error, of: name, at: revision) { notify(of: news) }
    }

    /// Calls an override only when the outcome changes, and not for accesses inside the override.
    private func setLastError(_ error: PrefsError?) {
        if !FailureHandler.run(for: ObjectIdentifier(state), { lastError = error }) { state.lastError = error }
    }

    /// Calls the failure handler only.
    package func notify(of error: PrefsError) {
        // Uses the state and not self, because self may be in its deinit.
        guard let owner = state.owner else { return }
        Transaction.afterwards {
            FailureHandler.run(for: ObjectIdentifier(owner)) {
                owner.prefsDidFail(error)
                // Looked up by number, because one handler may end another.
                for number in owner.state.errorHandlers { owner.state.errorHandler(number)?(error) }
            }
        }
    }
}
