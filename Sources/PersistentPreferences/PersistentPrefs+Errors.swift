import Foundation
import PrefsFileEngine

/// Every access runs in one of these, which turn what is thrown into `lastError`.
extension PersistentPrefs {
    /// - Returns: nil if the access failed.
    @discardableResult
    func read<R>(_ body: (inout PrefsAccess) throws -> R) -> R? {
        if let past = PastState.current(of: state) { return try? readPast(past, body) }
        var warning: PrefsError?
        do {
            var access = try access(root: key)
            defer { warning = access.warning }
            let result = try body(&access)
            report(access.warning)
            return result
        } catch {
            // Reports the warning too, because no later access would.
            reportFailure(PrefsError(error), after: warning)
            return nil
        }
    }

    @inline(never)
    private func reportFailure(_ error: PrefsError, after warning: PrefsError?) {
        if let warning, warning != error { report(warning) }
        report(error)
    }

    private func readPast<R>(_ past: PastState, _ body: (inout PrefsAccess) throws -> R) throws -> R {
        var access = try access(root: key)
        access.past = past
        return try body(&access)
    }

    /// A refusal rolls back the update that this write is part of, if any.
    ///
    /// - Parameter root: the key of the root, if the access has read it already.
    /// - Returns: the error of this access; nil if it succeeded, with or without a warning.
    @discardableResult
    func write(to root: String? = nil, _ body: (inout PrefsAccess) throws -> Void) -> PrefsError? {
        let root = root ?? key
        var access: PrefsAccess?
        do {
            var started = try self.access(root: root)
            defer { access = started }
            try body(&started)
            report(started.warning)
            return nil
        } catch {
            let error = PrefsError(error)
            // A malformed file is reported once: by the write, if that is the reason for its rejection.
            if let warning = access?.warning, warning != error, !error.isMalformedFile { report(warning) }
            if access?.hasReachedStore != true { state.store.refuse(error, root: root) }
            return report(error)
        }
    }

    @discardableResult
    func report(_ error: PrefsError?) -> PrefsError? {
        // An override hears of what differs, which a success after a success does not; and not of accesses inside it.
        if state.isNews(error), !FailureHandler.run(for: ObjectIdentifier(state), { lastError = error }) {
            state.lastError = error
        }
        if let error { notify(of: error) }
        return error
    }

    /// Calls the failure handler only.
    func notify(of error: PrefsError) {
        // Through the state and not through self, which may be in its deinit.
        guard let owner = state.owner else { return }
        Transaction.afterwards {
            FailureHandler.run(for: ObjectIdentifier(owner)) { owner.prefsDidFail(error) }
        }
    }
}
