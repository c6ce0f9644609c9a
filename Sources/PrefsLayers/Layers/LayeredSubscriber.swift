import Dispatch
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// Subscribes an observer to a root of the base, and tells it what the layers around the root are.
final class LayeredSubscriber: Sendable {
    private let base: any LayeredDomain
    private let stack: LayerStack
    private let root: String
    private let part: DomainPart
    private let observer: EntryObserver
    let queue = DispatchQueue(label: "PersistentPreferences.layers")
    private let state = Locked(State())

    /// Called between the subscriptions and the start, so that a test can interfere.
    private let willStart: @Sendable (LayeredSubscriber) -> Void

    private struct State {
        /// What the observer knows. nil before the start.
        var layers: (any RootLayersSnapshot)?
        var subscriptions: [EntrySubscription] = []
        /// Of the folders of layers. nil before the start.
        var watch: PathsWatch?
        var isOver = false
    }

    init(
        _ base: any LayeredDomain, _ stack: LayerStack, _ root: String, _ part: DomainPart, _ observer: EntryObserver,
        willStart: @escaping @Sendable (LayeredSubscriber) -> Void = { _ in }
    ) {
        self.willStart = willStart
        self.part = part
        self.base = base
        self.stack = stack
        self.root = root
        self.observer = observer
    }

    func start() throws -> EntrySubscription {
        let files = stack.files.flatMap(\.locations)
        var subscriptions: [EntrySubscription] = []
        var failures: [StorageFailure] = []
        for file in files {
            do {
                subscriptions.append(try file.subscribe(to: .everything, layerObserver()))
            } catch {
                // The layer is read although it is not watched.
                failures.append(Self.failure(error, at: file.path))
            }
        }
        let watch = PathsWatch { [weak self] in self?.scheduleLook() }
        if let failure = watch.update((stack.current() as? LayersSnapshot)?.paths ?? []).failure {
            failures.append(failure)
        }
        let layers = stack.current()
        let around = LayersOfRoot(layers, of: root)
        observer.enter(around)
        let base = try base.subscribe(to: part, observer)
        let failure = base.failure ?? failures.first ?? subscriptions.lazy.compactMap(\.failure).first
        subscriptions.append(base)
        willStart(self)
        state.withLock { ($0.layers, $0.subscriptions, $0.watch) = (layers, subscriptions, watch) }
        // The layers may have changed before there was a state to compare with.
        scheduleLook()
        return EntrySubscription(
            of: observer, start: EntryState(base.start.value, in: around), catchUp: base.catchUp, failure: failure
        ) { self.end() }
    }

    /// Of the file of a layer. A file that cannot be read is a fault of its layer.
    private func layerObserver() -> EntryObserver {
        let changed: @Sendable () -> EntryObserver.Action? = { [weak self] in
            self?.scheduleLook()
            return nil
        }
        return EntryObserver(.signal { _ in changed() }) { _ in changed() }
    }

    private static func failure(_ error: any Error, at path: String) -> StorageFailure {
        // Without the system call, whose name would say that the layer is looked at once a second.
        if case .unreadable(let failure) = PrefsError(error) {
            return StorageFailure(path: failure.path, reason: failure.reason, code: failure.code)
        }
        return StorageFailure(path: path, reason: "cannot be watched: \(PrefsError(error))")
    }

    private func end() {
        let last = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        for subscription in last.subscriptions { subscription.end() }
    }

    private func scheduleLook() {
        if stack.mayChange { queue.async { [weak self] in self?.look() } }
    }

    /// Reads the layers again, and reports them if they have changed.
    private func look() {
        let action = state.withLock { state -> EntryObserver.Action? in
            guard let known = state.layers else { return nil }
            let layers = stack.current()
            guard layers !== known else { return nil }
            state.layers = layers
            return observer.put(LayersOfRoot(layers, of: root), of: part.name)
        }
        action?()
        // A folder may lead to other files now, which may have changed before they were watched.
        let (watch, layers) = state.withLock { ($0.watch, $0.layers as? LayersSnapshot) }
        if let watch, let layers, watch.update(layers.paths).hasBegun { scheduleLook() }
    }
}

extension LayerStack: RootLayers {
    func subscribe(
        to part: DomainPart, root: String, of base: any LayeredDomain, _ observer: EntryObserver
    ) throws -> EntrySubscription {
        try LayeredSubscriber(base, self, root, part, observer).start()
    }
}
