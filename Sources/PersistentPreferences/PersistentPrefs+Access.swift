import Foundation
import PrefsFileEngine
package import PrefsPropertyLists

/// How the members of the class reach the store.
extension PersistentPrefs {
    func start(key: String?, values: [String: Any]?, store: PrefsStore?) {
        guard type(of: self) != PersistentPrefs.self else {
            fatalError("PersistentPrefs is an abstract class: subclass it, and create instances of the subclass")
        }
        if let store, case .property(let property) = store.purpose {
            return state.start(self, key: key, property, in: store.roots)
        }
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

    /// The keys of ``allowedKeys`` and the keys of the declared properties, which an override need not repeat.
    package var allowed: AllowedKeys { state.allowed(allowedKeys) }

    // MARK: - Reading

    func visibleValues() -> [String: Any] {
        state.bridge.access(nil, of: self)
        let root = key
        let allowed = self.allowed
        return read(root) { state.visibleValues(try $0.values(&$1), allowed).objects } ?? [:]
    }

    /// The number of visible values. Makes no objects.
    package func visibleCount() -> Int {
        state.bridge.access(nil, of: self)
        return currentValues.count
    }

    func value(of name: String) -> Any? {
        state.bridge.access(name, of: self)
        let root = key
        return read(root, of: name, onlyIfAllowed: true) { view, outcome in
            try view.value(forKey: name, &outcome)?.present()?.object
        } ?? nil
    }

    /// The values whose objects ``values`` returns. Sets ``lastError`` as a read does.
    package var currentValues: [String: StoredValue] { read { allowed.visible(in: try $0.values(&$1)) } ?? [:] }

    /// Discards the cache and loads the root again. ``lastError`` is ``PrefsError/noStoredPrefsForKey(key:)`` if nothing is
    /// stored under the root key.
    package func reload() {
        state.roots.forget()
        read { view, _ in
            guard try view.storedValues() != nil else { throw PrefsError.noStoredPrefsForKey(key: view.rootKey) }
        }
    }
}

// MARK: - Errors

/// Every read runs in `read`, as every write runs in `write`: they set `lastError` to the error that is thrown.
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
        if onlyIfAllowed, let name, case let allowed = self.allowed, !allowed.contains(name) {
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
        return PrefsObservation(ending: { handlers.remove(number) })
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
