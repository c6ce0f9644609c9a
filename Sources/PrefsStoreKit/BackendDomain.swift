import Dispatch
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The roots of a backend as a domain. The backend has its own transactions, and its updates nest by root.
final class BackendDomain: Domain {
    private let backend: any PrefsBackend
    private let remote: (any RemotePrefsBackend)?
    /// The dictionary that the backend last returned for each root, and its values.
    private let known = Locked<[String: Known]>([:])

    private struct Known {
        let objects: [String: Any]
        let values: [String: StoredValue]
    }

    init(_ backend: any PrefsBackend) {
        self.backend = backend
        remote = backend as? any RemotePrefsBackend
    }

    /// The update of this domain on this thread. An update that the program has begun on the backend itself is unknown
    /// here.
    var transaction: Transaction? { Transaction.current(of: backend) }
    var hasOnlyRoots: Bool { true }

    var source: AnyObject { backend }

    // MARK: - Reading

    /// The content has only the root. A root of another type is no error here; the caller decides.
    func state(of part: DomainPart, isForWriting: Bool) throws -> DomainState {
        let root = part.name
        do {
            return try state(of: root) {
                if isForWriting, let remote { try remote.current(root: root) } else { try backend.read(root: root) }
            }
        } catch PrefsError.unreadable(let failure) {
            guard !isForWriting, let remote else { throw PrefsError.unreadable(failure) }
            return state(of: root, warning: .unreadable(failure)) { remote.lastKnown(root: root) }
        }
    }

    private func state(
        of root: String, warning: FileError? = nil, _ read: () throws -> [String: Any]?
    ) rethrows -> DomainState {
        do {
            let values = values(try read(), of: root)
            return DomainState(
                values.map { [root: .dictionary($0)] }, hasAllEntries: false, isOfUpdate: transaction != nil,
                warning: warning)
        } catch PrefsError.rootIsNotDictionary {
            return DomainState([root: .integer(0)], hasAllEntries: false, isOfUpdate: transaction != nil)
        }
    }

    /// The values of a root that the backend has returned.
    private func values(_ objects: [String: Any]?, of root: String) -> [String: StoredValue]? {
        guard let objects else { return nil }
        if let known = known.withLock({ $0[root] }), SharedStorage.areSame(known.objects, objects) {
            return known.values
        }
        let values = objects.mapValues(PropertyListVetter.value(ofStored:))
        known.withLock { $0[root] = Known(objects: objects, values: values) }
        return values
    }

    // MARK: - Writing

    func transact(on root: String, durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        if ThreadState.rejectsWrites { throw PrefsError.writeInsideRead }
        try ThreadState.current.collectingActions.run {
            try backend.update(root: root) { try apply(body, to: root, &$0) }
        }
    }

    private func apply(
        _ body: (Transaction) throws -> Void, to root: String, _ objects: inout [String: Any]?
    ) throws {
        let before = values(objects, of: root)
        let transaction = Transaction(of: backend, isForeign: true, content: before.map { [root: .dictionary($0)] })
        try transaction.run(body)
        // Keeps the objects of unchanged keys, because the backend may compare them.
        guard let after = transaction[root]?.dictionary else {
            objects = nil
            return
        }
        objects = objects ?? [:]
        let change = RootChange(from: before ?? [:], to: after)
        for key in change.removed { objects?[key] = nil }
        for (key, value) in change.assigned { objects?[key] = value.object }
    }

    /// Rolls back the update that a rejected write is a part of. The backend rolls back an update whose body throws.
    func refuse(_ error: any Error, root: String) {
        if let transaction {
            transaction.fail(error)
            return
        }
        // The program may have begun an update on the backend itself, so this throws inside a nested update. A remote
        // backend runs its bodies inside an update of a store of this package, which has the error already; an update
        // would cost requests.
        if remote != nil { return }
        try? backend.update(root: root) { _ in throw error }
    }

    // MARK: - Observation

    /// What an observer starts from: what is known of a remote backend whose server is out of reach.
    private func readOrKnown(_ root: String) throws -> [String: Any]? {
        do {
            return try backend.read(root: root)
        } catch PrefsError.unreadable(let failure) {
            guard let remote else { throw PrefsError.unreadable(failure) }
            return remote.lastKnown(root: root)
        }
    }

    func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription {
        let reported = BackendRoot(observer)
        let observation = try backend.observe(root: part.name) { reported.receive($0) }
        let (start, catchUp) = try reported.start(part.name) { values(try readOrKnown(part.name), of: part.name) }
        return EntrySubscription(of: observer, start: start, catchUp: catchUp) {
            observation.cancel()
            reported.end()
        }
    }
}

/// Keeps the whole root for an observer, because a backend reports only the changed keys.
private final class BackendRoot: Sendable {
    private let observer: EntryObserver
    private let state = Locked(State())

    private struct State {
        /// The values of the root that were last reported.
        var values: [String: StoredValue]?
        var hasStarted = false
        /// Whether a change arrived before the start.
        var hasMissed = false
        /// Whether the observer may be at another root.
        var isOver = false
    }

    init(_ observer: EntryObserver) {
        self.observer = observer
    }

    /// Reads the root again until no change arrives during the read. The observer gets later changes.
    func start(
        _ root: String, _ read: () throws -> [String: StoredValue]?
    ) throws -> (start: EntryState, catchUp: EntryObserver.Action?) {
        while true {
            state.withLock { $0.hasMissed = false }
            let found = try read()
            let value = found.map(StoredValue.dictionary)
            let catchUp: EntryObserver.Action?? = state.withLock { state in
                if state.hasMissed { return nil }
                (state.values, state.hasStarted) = (found, true)
                return .some(observer.begin(at: value, of: root))
            }
            if let catchUp { return (EntryState(value), catchUp) }
        }
    }

    /// A call that the backend has begun may still come, because a cancellation does not wait.
    func end() { state.withLock { $0.isOver = true } }

    func receive(_ change: PrefsChange) {
        let action = state.withLock { state -> EntryObserver.Action? in
            guard state.hasStarted, !state.isOver else {
                state.hasMissed = true
                return nil
            }
            let values = change.difference.applied(to: state.values ?? [:])
            state.values = values
            return observer.put(.dictionary(values), of: change.root, isForeign: change.origin == .elsewhere)
        }
        action?()
    }
}
