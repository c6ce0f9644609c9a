import Foundation
import PrefsFileEngine
package import PrefsPropertyLists

/// How the members of the class reach the store.
extension PersistentPrefs {
    func start(key: String?, values: [String: Any]?, store: (any PrefsStore)?) {
        guard type(of: self) != PersistentPrefs.self else {
            fatalError("PersistentPrefs is an abstract class: subclass it, and create instances of the subclass")
        }
        if let store = store as? PropertyStore { return state.start(self, key: key, store) }
        let warning = state.start(self, key: key, store: store)
        if let warning { report(warning) }
        defer { if let warning, state.lastError == nil { state.lastError = warning } }
        if let values, !values.isEmpty {
            mergeValues(values)
        } else {
            // As in RVS_PersistentPrefs, lastError of a new instance says whether its state can be read.
            read { _ = try $0.values(&$1) }
        }
    }

    package var declarations: ClassDeclarations { state.declarations }

    /// The keys of `keys` and the keys of the declared properties, which an override need not repeat.
    package var allowedKeys: AllowedKeys { state.allowed(keys) }

    // MARK: - Reading

    func visibleValues() -> [String: Any] {
        state.bridge.access(nil, of: self)
        let root = key
        let allowed = allowedKeys
        return read(root) { state.visibleValues(try $0.values(&$1), allowed).objects } ?? [:]
    }

    /// The number of visible values. Makes no objects.
    func visibleCount() -> Int {
        state.bridge.access(nil, of: self)
        return effectiveValues.count
    }

    func value(of name: String) -> Any? {
        state.bridge.access(name, of: self)
        let root = key
        return read(root, of: name, onlyIfAllowed: true) { view, outcome in
            try view.value(forKey: name, &outcome)?.present()?.object
        } ?? nil
    }

    /// The values whose objects ``values`` returns. Sets ``lastError`` as a read does.
    package var effectiveValues: [String: StoredValue] { read { allowedKeys.visible(in: try $0.values(&$1)) } ?? [:] }

    func reload() {
        state.roots.forget()
        read { view, _ in
            guard try view.storedValues() != nil else { throw PrefsError.noStoredPrefsForKey(key: view.rootKey) }
        }
    }

    // MARK: - Writing

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
        let allowed = allowedKeys
        write { root, outcome in
            guard allowed.contains(name) else { throw PrefsError.incorrectKeys([name], among: allowed.list) }
            let (change, durability) = try root.difference(inKeys: [name], to: value.map { [name: $0] }, &outcome)
            try root.commit(change, over: durability, &outcome)
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
            try $0.commit(.assign(values, merging: merging, allowedKeys), &$1)
        }
    }

    func removeValues(of names: [String]) -> PrefsError? {
        let allowed = allowedKeys
        return write { root, outcome in
            let unknown = names.filter { !allowed.contains($0) }
            if !unknown.isEmpty { throw PrefsError.incorrectKeys(unknown, among: allowed.list) }
            let (change, durability) = try root.difference(inKeys: names, to: nil, &outcome)
            try root.commit(change, over: durability, &outcome)
        }
    }

    func clearValues() {
        write { try $0.commit(.clear(allowedKeys), &$1) }
    }

    func removeRoot() {
        write { root, outcome in
            try root.roots.replacingMistakes { try root.commit(.remove(allowedKeys), &outcome) }
        }
    }

    typealias VisibleValues = RootInstance.VisibleValues

    func valuesForChange() -> InPlaceChange<VisibleValues> {
        changeInPlace(from: .nothing) { state.visibleValues(try $0.values(&$1), allowedKeys) }
    }

    /// Ends a change that threw. Stores nothing, and reports the outcome of the read.
    func abandonChange(from start: InPlaceChange<VisibleValues>) {
        report(start.outcome.warning ?? start.failure)
    }

    func commitChange(from start: InPlaceChange<VisibleValues>, to after: [String: Any]) {
        commit(start) { before, root, outcome in
            let change = try RootChange(
                from: before.values, shownAs: before.objects, to: after, allowed: allowedKeys)
            try root.commit(change, over: start.durability, &outcome)
        }
    }

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
            let allowed = allowedKeys
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
}

// MARK: - Errors

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
        var outcome = AccessOutcome()
        var revision: Revision?
        do {
            let view = try viewForRead(root, of: name, onlyIfAllowed, &outcome)
            revision = view.revision
            let result = try body(view, &outcome)
            endRead(nil, outcome, of: name, at: revision)
            return result
        } catch {
            endRead(error, outcome, of: name, at: revision)
            return nil
        }
    }

    // Neither of these is inlined, because `read` is compiled for each type of result.
    @inline(never) private func viewForRead(
        _ root: String?, of name: String?, _ onlyIfAllowed: Bool, _ outcome: inout AccessOutcome
    ) throws -> RootView {
        let root = try Root(root ?? key, of: state)
        if onlyIfAllowed, let name, case let allowed = allowedKeys, !allowed.contains(name) {
            throw PrefsError.incorrectKeys([name], among: allowed.list)
        }
        if let past = PreviousStateRead.current(of: state) { return root.view(of: past.entry) }
        return try root.view(of: name, &outcome)
    }

    /// Reports the outcome of a read, unless it was of a previous state.
    @inline(never) private func endRead(
        _ failure: (any Error)?, _ outcome: AccessOutcome, of name: String?, at revision: Revision?
    ) {
        guard PreviousStateRead.current(of: state) == nil else { return }
        let failure = failure.map { PrefsError($0) }
        for other in outcome.others { report(other, of: .fault()) }
        // Reports the warning too, because no later access would.
        if let warning = outcome.warning, let failure, warning != failure {
            report(warning, of: .fault(of: name, at: revision))
        }
        report(failure ?? outcome.warning, of: .read(of: name, at: revision))
    }

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
            if Transaction.rejectsWrites { throw PrefsError.writeInsideRead }
            try LockWait.within(lockTimeoutNow) { try body(Root(root, of: state), &outcome) }
            for other in outcome.others { report(other, of: .faultOfWrite) }
            report(outcome.warning)
            return outcome.warning.flatMap { $0.isOfWrite ? $0 : nil }
        } catch {
            let error = PrefsError(error)
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
    var lockTimeoutNow: Duration? {
        guard let limit = declarations.lockTimeout, LockWait.current == nil else { return nil }
        return limit
    }

    /// Calls the closure once for each problem of this instance, and for each rejected write.
    ///
    /// ```swift
    /// let errors = prefs.onError { error in print(error) }
    /// ```
    ///
    /// Keep the result: releasing it ends the calls. Before `onError` returns, the closure gets the error of each problem
    /// that stands: what ``problems()`` lists. Later it gets each problem that begins, whether an access meets it or not:
    /// while it exists, the instance watches its file and the files of its layers. The end of a problem is not told;
    /// ``problems()`` shows it. A problem that returns is told again. Each rejected write is told, and each warning of a
    /// write that stored something else than was asked for.
    ///
    /// What an access meets is told on its thread, after every lock is released; what another program causes, on a thread
    /// of this package. After an `update`, the closure runs for each write that failed inside it and for the update itself.
    /// If an access of the same instance fails in a closure, that access sets ``lastError`` and no closure is called
    /// again. Several closures are called in the order of their registration. Costs what ``problems()`` costs, now and at
    /// each change by others, and what an observer costs. Any thread.
    public func onError(_ action: @escaping @Sendable (PrefsError) -> Void) -> PrefsObservation {
        let handlers = state.makeErrorHandlers()
        let number = handlers.add(action, of: self)
        return PrefsObservation { handlers.remove(number) }
    }

    /// Reports what an access has met: to `lastError`, and to the failure handlers.
    @discardableResult
    func report(_ error: PrefsError?, of access: FaultLog.Access = .write) -> PrefsError? {
        let news = state.record(error, of: access)
        if news.isOutcome { setLastError(error) }
        if let told = news.told { callHandlers(with: told, isOnce: news.isOnce) }
        return error
    }

    /// Calls an override only when the outcome changes, and not for accesses inside the override.
    private func setLastError(_ error: PrefsError?) {
        if !FailureHandler.run(for: ObjectIdentifier(state), { lastError = error }) { state.lastError = error }
    }

    /// Calls the failure handler only.
    ///
    /// - Parameter isOnce: whether it is a fault that stands, of which each closure is told once.
    package func callHandlers(with error: PrefsError, isOnce: Bool = false) {
        // Uses the state and not self, because self may be in its deinit.
        guard let owner = state.owner as? PersistentPrefs else { return }
        Transaction.afterwards {
            FailureHandler.run(for: ObjectIdentifier(owner)) {
                owner.prefsDidFail(error)
                owner.state.errorHandlers?.tell(error, isOnce: isOnce, owner)
            }
        }
    }
}
