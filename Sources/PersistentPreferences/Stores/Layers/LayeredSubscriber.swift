import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// A root of the base and the layers around it, as the entry that subscribers of a layered store receive. Two objects are two states.
///
/// Unchecked because canonical property-list values, which never change, are not Sendable.
final class LayeredEntry: @unchecked Sendable {
    let root: String
    /// The root of the base; nil if it is missing or not a dictionary.
    let stored: [String: Any]?
    let layers: LayersSnapshot

    init(root: String, _ stored: Any?, _ layers: LayersSnapshot) {
        self.root = root
        self.stored = stored as? [String: Any]
        self.layers = layers
    }

    /// The entry, if it is one of a layered store. A cast would first make an NSDictionary of any other, at all its levels.
    static func of(_ entry: Any?) -> LayeredEntry? {
        guard let entry, type(of: entry) == LayeredEntry.self else { return nil }
        return entry as? LayeredEntry
    }
}

/// Subscribes to a root of the base and to the files of the layers, for one subscriber of both.
final class LayeredSubscriber: EntrySubscriber {
    private let store: LayeredRootStore
    private let root: String
    private let subscriber: any EntrySubscriber
    private let queue = DispatchQueue(label: "PersistentPreferences.layers")
    private let state = Locked(State())

    private struct State {
        /// nil before the start.
        var entry: LayeredEntry?
        /// A change of the base that came before the start.
        var early: EntryChange?
        var subscriptions: [EntrySubscription] = []
        var isOver = false
    }

    init(_ store: LayeredRootStore, _ root: String, _ subscriber: any EntrySubscriber) {
        self.store = store
        self.root = root
        self.subscriber = subscriber
    }

    func start(_ keys: [String], from known: LastKnownEntry?) throws -> EntrySubscription {
        let files = store.stack.files.flatMap(\.locations)
        var subscriptions: [EntrySubscription] = []
        var failures: [StorageFailure] = []
        for file in files {
            do {
                subscriptions.append(try file.subscribe(to: "", LayerFileSubscriber(self), from: nil))
            } catch {
                // The layer is still read.
                failures.append(Self.failure(error, at: file.path))
            }
        }
        let base = try store.base.subscribe(to: root, keys: keys, self, from: nil)
        let failure = base.failure ?? failures.first ?? subscriptions.lazy.compactMap(\.failure).first
        subscriptions.append(base)
        let layers = store.stack.current()
        let (entry, catchUp) = state.withLock { state in
            let entry = LayeredEntry(root: root, state.early.map(\.after) ?? base.start, layers)
            (state.entry, state.early, state.subscriptions) = (entry, nil, subscriptions)
            return (entry, EntryChange(of: part, from: known, to: entry).flatMap(subscriber.receive))
        }
        // They may have changed before there was a state to compare with.
        scheduleLook()
        return EntrySubscription(start: entry, catchUp: catchUp, failure: failure) { self.end() }
    }

    private static func failure(_ error: any Error, at path: String) -> StorageFailure {
        if case .unreadable(let failure) = PrefsError(error) { return failure }
        return StorageFailure(path: path, reason: "cannot be watched: \(PrefsError(error))")
    }

    private var part: String { store.layout.part(of: root) }

    private func end() -> LastKnownEntry? {
        let last = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        for subscription in last.subscriptions { subscription.end() }
        return last.entry.map { LastKnownEntry(entry: $0) }
    }

    /// A change of the base.
    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let entry = state.entry else {
                state.early = change
                return nil
            }
            return tell(&state, LayeredEntry(root: root, change.after, entry.layers), isForeign: change.isForeign)
        }
    }

    private func tell(
        _ state: inout State, _ new: LayeredEntry, isForeign: Bool
    ) -> (@Sendable () -> Void)? {
        let change = EntryChange(of: part, from: state.entry, to: new, isForeign: isForeign)
        state.entry = new
        return change.flatMap(subscriber.receive)
    }

    fileprivate func scheduleLook() {
        if !store.stack.files.isEmpty { queue.async { [weak self] in self?.look() } }
    }

    /// Reads the layers again, and tells of them if they have changed.
    private func look() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard let entry = state.entry else { return nil }
            let layers = store.stack.current()
            guard layers !== entry.layers else { return nil }
            return tell(&state, LayeredEntry(root: root, entry.stored, layers), isForeign: true)
        }
        if let action { DispatchQueue.main.async(execute: action) }
    }
}

/// Subscribes to the file of a layer.
private final class LayerFileSubscriber: EntrySubscriber {
    private let subscriber: LayeredSubscriber

    init(_ subscriber: LayeredSubscriber) {
        self.subscriber = subscriber
    }

    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        subscriber.scheduleLook()
        return nil
    }
}

/// Makes the changes of a layered store those of merged values, for an observer that knows no types.
final class MergedSubscriber: EntrySubscriber {
    private let observer: CallbackObserver

    init(_ observer: CallbackObserver) {
        self.observer = observer
    }

    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        let states = [change.before, change.after].map { entry in
            LayeredEntry.of(entry).flatMap { $0.layers.merged($0.stored, root: $0.root) }
        }
        return EntryChange(of: change.key, from: states[0], to: states[1], isForeign: change.isForeign)
            .flatMap(observer.receive)
    }
}
