import PrefsFileEngine
import PrefsPropertyLists

/// The base of a layered store as the base class uses it. The roots are those of the base; each snapshot carries the layers, which the
/// class puts around the root, because only it knows types, migrations and allowed keys.
final class LayeredRootStore: RootStore {
    let base: any RootStore
    let stack: LayerStack
    /// The last revision of base and layers together.
    private let combined = Locked<(base: Revision, layers: Revision, both: Revision)?>(nil)

    init(_ base: any RootStore, _ stack: LayerStack) {
        self.base = base
        self.stack = stack
    }

    var layout: DomainLayout { base.layout }
    var place: AnyObject { base.place }

    var layers: LayersSnapshot? { FrozenLayers.current(of: self) ?? stack.current() }

    func snapshot(of root: String) -> RootSnapshot {
        layered(root) { try base.snapshot(of: root) }
    }

    func snapshotForWriting(of root: String) -> RootSnapshot {
        layered(root) { try base.snapshotForWriting(of: root) }
    }

    @inline(__always)
    private func layered(_ root: String, _ base: () throws -> RootSnapshot) -> RootSnapshot {
        var snapshot: RootSnapshot
        do {
            snapshot = try base()
        } catch {
            // The layers go on working.
            let layers = LayersSnapshot(overUnreadableBase: stack.current())
            return RootSnapshot(of: root, in: nil, layout: layout, warning: PrefsError(error), layers: layers)
        }
        // Without a revision it may be the thread's own update.
        let layers = (snapshot.revision == nil ? FrozenLayers.current(of: self) : nil) ?? stack.current()
        snapshot.layers = layers
        snapshot.revision = both(snapshot.revision, layers.revision)
        let faults = layers.faults(of: root)
        if !faults.isEmpty { snapshot.warning = snapshot.warning ?? .invalidLayer(faults) }
        return snapshot
    }

    func knownRevision(of root: String) -> Revision? {
        guard let base = base.knownRevision(of: root) else { return nil }
        let layers = stack.current()
        return layers.faults(of: root).isEmpty ? both(base, layers.revision) : nil
    }

    private func both(_ base: Revision?, _ layers: Revision?) -> Revision? {
        guard let base, let layers else { return nil }
        return combined.withLock { combined in
            if let combined, combined.base == base, combined.layers == layers { return combined.both }
            let new = Revision()
            combined = (base, layers, new)
            return new
        }
    }

    /// Without the layers of text and of managed values.
    func values(of root: String) throws -> [String: StoredValue]? {
        let stored = try base.values(of: root)
        return layers.map { $0.merged(stored, root: root) } ?? stored
    }

    /// The update of the base, with the layers as they are at its beginning.
    func update(root: String, _ body: (inout [String: StoredValue]?) throws -> Void) throws {
        try withFrozenLayers { try base.update(root: root, body) }
    }

    func replace(root: String, _ body: ([String: StoredValue]?) throws -> [String: StoredValue]?) throws {
        try withFrozenLayers { try base.replace(root: root, body) }
    }

    /// Inside the closure, accesses of this thread see one state of the layers.
    func withFrozenLayers<R>(_ body: () throws -> R) rethrows -> R {
        if FrozenLayers.current(of: self) != nil { return try body() }
        return try FrozenLayers(stack.current(), of: self).asCurrent(body)
    }

    func acknowledge(_ revision: Revision?) throws -> Bool {
        // A revision of both is none of the base, which then looks at its own state.
        let own = combined.withLock { combined in combined.flatMap { $0.both == revision ? $0.base : nil } }
        return try base.acknowledge(own)
    }

    func takeWarning() -> PrefsError? { base.takeWarning() }

    func forget() {
        base.forget()
        stack.files.forEach { $0.forget() }
    }

    func subscribe(
        to root: String, keys: [String], _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try LayeredSubscriber(self, root, subscriber).start(keys, from: known)
    }

    func refuse(_ error: PrefsError, root: String) { base.refuse(error, root: root) }
}

/// The layers of a store during an update of this thread.
private final class FrozenLayers {
    private let layers: LayersSnapshot
    private let store: LayeredRootStore
    private let outer: UnsafeRawPointer?
    private static let threads = ThreadLocal()

    init(_ layers: LayersSnapshot, of store: LayeredRootStore) {
        self.layers = layers
        self.store = store
        outer = Self.threads.value
    }

    func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { Self.threads.value = outer }
        return try body()
    }

    static func current(of store: LayeredRootStore) -> LayersSnapshot? {
        var place = threads.value
        while let pointer = place {
            let frozen = Unmanaged<FrozenLayers>.fromOpaque(pointer).takeUnretainedValue()
            if frozen.store === store { return frozen.layers }
            place = frozen.outer
        }
        return nil
    }
}
