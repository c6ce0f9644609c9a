import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// Adapts a store of another module to the base class.
final class StoreAdapter: RootStore {
    let layout = DomainLayout.roots
    var place: AnyObject { store }
    private let store: any PrefsStore
    /// What the store has returned last for each root, and its values.
    private let known = Locked<[String: Known]>([:])

    private struct Known {
        let objects: [String: Any]
        let values: [String: StoredValue]
    }

    init(_ store: any PrefsStore) {
        self.store = store
    }

    /// The values of a root that the store has returned.
    private func values(_ objects: [String: Any]?, of root: String) -> [String: StoredValue]? {
        guard let objects else { return nil }
        if let known = known.withLock({ $0[root] }), StoredValue.areSame(known.objects, objects) { return known.values }
        let values = objects.mapValues(PropertyListVetter.value(ofStored:))
        known.withLock { $0[root] = Known(objects: objects, values: values) }
        return values
    }

    func values(of root: String) throws -> [String: StoredValue]? {
        if let store = store as? any RemoteStore { return try store.values(of: root) }
        return values(try store.read(root: root), of: root)
    }

    func snapshot(of root: String) throws -> RootSnapshot {
        do {
            return try snapshot(of: root) { try values(of: root) }
        } catch PrefsError.unreadable(let failure) {
            guard let store = store as? any RemoteStore else { throw PrefsError.unreadable(failure) }
            var snapshot = snapshot(of: root) { store.lastKnown(root: root) }
            snapshot.warning = .unreadable(failure)
            return snapshot
        }
    }

    func snapshotForWriting(of root: String) throws -> RootSnapshot {
        guard let store = store as? any RemoteStore else { return try snapshot(of: root) }
        return try snapshot(of: root) { try store.current(root: root) }
    }

    /// The error of a root of another type is one of the snapshot: the caller decides whether it matters.
    private func snapshot(of root: String, _ read: () throws -> [String: StoredValue]?) rethrows -> RootSnapshot {
        do {
            return RootSnapshot(of: root, in: try read().map { [root: .dictionary($0)] })
        } catch PrefsError.rootIsNotDictionary {
            return RootSnapshot(of: root, in: [root: .integer(0)])
        }
    }

    func update(root: String, _ body: (inout [String: StoredValue]?) throws -> Void) throws {
        try store.update(root: root) { objects in
            let before = values(objects, of: root)
            var after = before
            try body(&after)
            // The objects of keys that do not change stay: the store may compare them.
            guard let after else {
                objects = nil
                return
            }
            objects = objects ?? [:]
            let change = RootChange(from: before ?? [:], to: after)
            for key in change.removed { objects?[key] = nil }
            for (key, value) in change.assigned { objects?[key] = value.object }
        }
    }

    func replace(root: String, _ body: ([String: StoredValue]?) throws -> [String: StoredValue]?) throws {
        try update(root: root) { if let new = try body($0) { $0 = new } }
    }

    func acknowledge(_ revision: Revision?) -> Bool { false }

    func takeWarning() -> PrefsError? { nil }

    func forget() {}

    func subscribe(
        to root: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        let foreign = ForeignRoot(subscriber)
        let observation = try store.observe(root: root) { foreign.receive($0) }
        let start = EntryState(try foreign.start { try values(of: root) }.map(StoredValue.dictionary))
        let catchUp = EntryChange(of: root, from: known, to: start).flatMap(subscriber.receive)
        return EntrySubscription(start: start, catchUp: catchUp) {
            observation.cancel()
            return LastKnownEntry(entry: EntryState(foreign.current.map(StoredValue.dictionary)))
        }
    }

    func refuse(_ error: PrefsError, root: String) {
        Transaction.current?.fail(error)
        // Another module's store has its own transactions. An update that throws rolls them back.
        if store is any RemoteStore { return }
        try? store.update(root: root) { _ in throw error }
    }
}

/// Keeps the whole root for a subscriber, because a store of another module reports only the changed keys.
private final class ForeignRoot: Sendable {
    private let subscriber: any EntrySubscriber
    private let state = Locked(State())

    private struct State {
        /// The root as it was last reported.
        var values: [String: StoredValue]?
        var hasStarted = false
        /// Whether a change came before the start.
        var hasMissed = false
    }

    init(_ subscriber: any EntrySubscriber) {
        self.subscriber = subscriber
    }

    var current: [String: StoredValue]? { state.withLock { $0.values } }

    /// Reads the root again until no change arrives during the read. The subscriber receives later changes.
    func start(_ read: () throws -> [String: StoredValue]?) throws -> [String: StoredValue]? {
        while true {
            state.withLock { $0.hasMissed = false }
            let found = try read()
            let hasMissed = state.withLock { state in
                if !state.hasMissed { (state.values, state.hasStarted) = (found, true) }
                return state.hasMissed
            }
            if !hasMissed { return found }
        }
    }

    func receive(_ change: PrefsChange) {
        let isForeign = change.origin == .elsewhere
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.hasStarted else {
                state.hasMissed = true
                return nil
            }
            let before = state.values
            state.values = change.difference.applied(to: before ?? [:])
            return EntryChange(
                of: change.root, from: before.map(StoredValue.dictionary), to: state.values.map(StoredValue.dictionary),
                isForeign: isForeign
            ).flatMap(subscriber.receive)
        }
        guard let action else { return }
        isForeign ? DispatchQueue.main.async(execute: action) : action()
    }
}
