import Dispatch
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// Subscribes to a root of the base and to the files of the layers, for one subscriber of both.
final class LayeredSubscriber: EntrySubscriber {
    private let base: any LayeredDomain
    private let stack: LayerStack
    private let root: String
    private let part: DomainPart
    private let subscriber: any EntrySubscriber
    let queue = DispatchQueue(label: "PersistentPreferences.layers")
    private let state = Locked(State())

    /// Called between the subscriptions and the start, so that a test can interfere.
    private let willStart: @Sendable (LayeredSubscriber) -> Void

    private struct State {
        /// nil before the start.
        var entry: EntryState?
        /// A change of the base that arrived before the start.
        var early: EntryChange?
        var subscriptions: [EntrySubscription] = []
        /// Of the folders of layers. nil before the start.
        var watch: PathsWatch?
        var isOver = false
    }

    init(
        _ base: any LayeredDomain, _ stack: LayerStack, _ root: String, _ part: DomainPart,
        _ subscriber: any EntrySubscriber,
        willStart: @escaping @Sendable (LayeredSubscriber) -> Void = { _ in }
    ) {
        self.willStart = willStart
        self.part = part
        self.base = base
        self.stack = stack
        self.root = root
        self.subscriber = subscriber
    }

    func start(from known: LastKnownEntry?) throws -> EntrySubscription {
        let files = stack.files.flatMap(\.locations)
        var subscriptions: [EntrySubscription] = []
        var failures: [StorageFailure] = []
        for file in files {
            do {
                subscriptions.append(try file.subscribe(to: .everything, LayerFileSubscriber(self), from: nil))
            } catch {
                // The layer is read although it is not watched.
                failures.append(Self.failure(error, at: file.path))
            }
        }
        let watch = PathsWatch { [weak self] in self?.scheduleLook() }
        if let failure = watch.update((stack.current() as? LayersSnapshot)?.paths ?? []).failure {
            failures.append(failure)
        }
        let base = try base.subscribe(to: part, self, from: nil)
        let failure = base.failure ?? failures.first ?? subscriptions.lazy.compactMap(\.failure).first
        subscriptions.append(base)
        let layers = stack.current()
        willStart(self)
        let (entry, catchUp) = state.withLock { state in
            let stored = state.early.map(\.after) ?? base.start
            let entry = EntryState(stored.value, in: LayersOfRoot(layers, of: root))
            (state.entry, state.early, state.subscriptions, state.watch) = (entry, nil, subscriptions, watch)
            return (entry, EntryChange(of: part.name, from: known, to: entry).flatMap(subscriber.receive))
        }
        // The layers may have changed before there was a state to compare with.
        scheduleLook()
        return EntrySubscription(start: entry, catchUp: catchUp, failure: failure) { self.end() }
    }

    private static func failure(_ error: any Error, at path: String) -> StorageFailure {
        // Without the system call, whose name would say that the layer is looked at once a second.
        if case .unreadable(let failure) = PrefsError(error) {
            return StorageFailure(path: failure.path, reason: failure.reason, code: failure.code)
        }
        return StorageFailure(path: path, reason: "cannot be watched: \(PrefsError(error))")
    }

    private func end() -> LastKnownEntry? {
        let last = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        for subscription in last.subscriptions { subscription.end() }
        return last.entry.map { LastKnownEntry(entry: $0) }
    }

    /// Receives a change of the base.
    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let entry = state.entry else {
                state.early = change
                return nil
            }
            return report(&state, EntryState(change.after.value, in: entry.context), isForeign: change.isForeign)
        }
    }

    func failed(_ error: FileError?) -> (@Sendable () -> Void)? { subscriber.failed(error) }

    var reader: ObjectIdentifier { subscriber.reader }

    private func report(
        _ state: inout State, _ new: EntryState, isForeign: Bool
    ) -> (@Sendable () -> Void)? {
        guard let old = state.entry else { return nil }
        state.entry = new
        return EntryChange(of: part.name, from: old, to: new, isForeign: isForeign).flatMap(subscriber.receive)
    }

    fileprivate func scheduleLook() {
        if stack.mayChange { queue.async { [weak self] in self?.look() } }
    }

    /// Reads the layers again, and reports them if they have changed.
    private func look() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard let entry = state.entry else { return nil }
            let layers = stack.current()
            guard layers !== entry.layers?.layers else { return nil }
            return report(&state, EntryState(entry.value, in: LayersOfRoot(layers, of: root)), isForeign: true)
        }
        if let action { DispatchReadiness.shared.async(on: .main, action) }
        // A folder may lead to other files now, which may have changed before they were watched.
        let (watch, layers) = state.withLock { ($0.watch, $0.entry?.layers?.layers as? LayersSnapshot) }
        if let watch, let layers, watch.update(layers.paths).hasBegun { scheduleLook() }
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

    /// A file that cannot be read is a fault of its layer.
    func failed(_ error: FileError?) -> (@Sendable () -> Void)? {
        subscriber.scheduleLook()
        return nil
    }
}

extension LayerStack: RootLayers {
    func subscribe(
        to part: DomainPart, root: String, of base: any LayeredDomain, _ subscriber: any EntrySubscriber,
        from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try LayeredSubscriber(base, self, root, part, subscriber).start(from: known)
    }
}
