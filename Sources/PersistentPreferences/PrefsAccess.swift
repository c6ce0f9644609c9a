import PrefsFileEngine
import PrefsPropertyLists

/// One access to one root, in the shape that the class wants of it. The open `key` is read once for it.
struct PrefsAccess {
    let root: String
    private let state: InstanceState
    /// Something to report although the access succeeds.
    var warning: PrefsError?
    /// Whether what it reads decides about a write.
    var isForWriting = false
    /// The revision of the last read.
    var revision: Revision?
    /// Whether the stored value could not be used, so that layers were read without it. The warning says why.
    private(set) var hasPassedOverBase = false
    /// The state that is read instead of the stored one, if any.
    var past: PastState?
    /// Whether the write has reached the store. If it fails after that, the store itself has rolled back the update.
    private(set) var hasReachedStore = false

    init(root: String, state: InstanceState) throws(PrefsError) {
        try NameVetting.checkRoot(root)
        self.root = root
        self.state = state
    }

    /// A write reads it once, also if a test begins or ends meanwhile.
    private var store: any RootStore { state.store }

    // MARK: - Reading

    /// All values of the root, as of now, with those of layers; nil if there are none.
    mutating func values() throws -> [String: StoredValue]? {
        let reading = try look()
        guard let layers = reading.layers else { return try storedValues(in: reading) }
        var stored: [String: StoredValue]?
        do {
            stored = try storedValues(in: reading)
        } catch {
            passOverBase(error)
        }
        let (values, faults) = state.merged(stored, with: layers, root: root)
        note(faults)
        return values
    }

    /// All stored values of the root, as of now; nil if nothing is stored.
    mutating func storedValues() throws -> [String: StoredValue]? {
        try storedValues(in: look())
    }

    private func storedValues(in reading: RootSnapshot) throws(PrefsError) -> [String: StoredValue]? {
        try state.current(reading.values(), root: root)
    }

    /// The value of a key, or that of a layer.
    mutating func value(forKey key: String, in reading: RootSnapshot) throws(PrefsError) -> StoredValue? {
        guard let layers = reading.layers else { return try storedValue(forKey: key, in: reading) }
        let layered = state.layered(key, in: layers, root: root)
        note(layered.faults)
        if let above = layered.above { return above.value }
        do throws(PrefsError) {
            let stored = try storedValue(forKey: key, in: reading)
            if let stored, let error = layered.mismatch(of: stored) { throw error }
            return stored ?? layered.below?.value
        } catch {
            passOverBase(error)
            return layered.below?.value
        }
    }

    /// Not inlined, because it would cost every read.
    @inline(never)
    private mutating func passOverBase(_ error: PrefsError) {
        hasPassedOverBase = true
        // The access has one warning. The handler hears of the others.
        if let warning, warning != error { state.owner?.notify(of: warning) }
        warning = error
    }

    /// The value that a write to a key replaces: a layer below is not written to.
    func valueToReplace(forKey key: String, in reading: RootSnapshot) throws(PrefsError) -> StoredValue? {
        if let cover = cover(of: key, in: reading) { return cover.value }
        return try storedValue(forKey: key, in: reading)
    }

    /// Whether a layer above the base sets the key.
    func isCovered(_ key: String, in reading: RootSnapshot) -> Bool { cover(of: key, in: reading) != nil }

    private func cover(of key: String, in reading: RootSnapshot) -> LayeredKey.Value? {
        reading.layers.flatMap { state.layered(key, in: $0, root: root).above }
    }

    mutating func source(ofKey key: String, in reading: RootSnapshot) throws(PrefsError) -> PrefSource {
        let layered = reading.layers.map { state.layered(key, in: $0, root: root) }
        // The stored value may be unreadable; layers are read all the same.
        if let above = layered?.above { return .layer(above.layer) }
        do throws(PrefsError) {
            if let stored = try storedValue(forKey: key, in: reading),
                state.declarations[key]?.property.error(of: stored, forKey: key) == nil
            {
                return .stored
            }
        } catch {
            if layered == nil { throw error }
            passOverBase(error)
        }
        return layered?.below.map { .layer($0.layer) } ?? .default
    }

    /// Whether an entry of a layer for the key does not fit, which each read reports.
    func isFaulty(_ key: String, in reading: RootSnapshot) -> Bool {
        reading.layers.map { !state.layered(key, in: $0, root: root).faults.isEmpty } ?? false
    }

    private mutating func note(_ faults: [LayerFault]) {
        guard !faults.isEmpty else { return }
        switch warning {
        case nil: warning = .invalidLayer(faults)
        case .invalidLayer(let others): warning = .invalidLayer(others + faults.filter { !others.contains($0) })
        // The access has one warning. The handler hears of the others.
        default: state.owner?.notify(of: .invalidLayer(faults))
        }
    }

    /// One of the stored values, without the others if possible.
    func storedValue(forKey key: String, in reading: RootSnapshot) throws(PrefsError) -> StoredValue? {
        let schema = state.declarations.schema
        if schema.isTrivial { return try reading.value(forKey: key) }
        guard reading.isReadByKey else { return try storedValues(in: reading)?[key] }
        var part: [String: StoredValue] = [:]
        for name in schema.keysNeeded(for: key) { part[name] = try reading.value(forKey: name) }
        guard schema.hasVersion(part) else { return try storedValues(in: reading)?[key] }
        return try schema.current(part, root: root)?[key]
    }

    /// Whether there is a root, of any version.
    mutating func hasRoot() throws -> Bool {
        try look().values() != nil
    }

    /// The current state. The root is not extracted yet.
    mutating func look() throws -> RootSnapshot {
        if let past {
            return RootSnapshot(of: root, in: past.root.map { [root: .dictionary($0)] }, layers: past.layers)
        }
        let reading = try snapshot(of: root)
        if let new = reading.warning { warning = warning ?? new }
        if let layers = reading.layers, layers.isBaseUnreadable { hasPassedOverBase = true }
        // The warning is that of the base, if it has one.
        if let layers = reading.layers { note(layers.faults(of: root)) }
        revision = reading.revision
        // Most classes have none, and a copy of the snapshot costs a read.
        if !state.hasFormerRoots { return reading }
        return try formerRoot(insteadOf: reading)?.reading ?? reading
    }

    private func snapshot(of root: String) throws -> RootSnapshot {
        try isForWriting ? store.snapshotForWriting(of: root) : store.snapshot(of: root)
    }

    /// What is stored under a former root key; nil if there is a root, or no former one either.
    private func formerRoot(insteadOf reading: RootSnapshot) throws -> (key: String, reading: RootSnapshot)? {
        let formerKeys = state.declarations.formerRoots(of: root)
        if formerKeys.isEmpty || store.layout == .flat || reading.isUnreadable { return nil }
        guard try reading.values() == nil else { return nil }
        for key in formerKeys {
            let reading = try snapshot(of: key)
            if try Self.isRoot(reading) { return (key, reading) }
        }
        // Another process may have moved it between the two looks.
        let again = try snapshot(of: root)
        return try again.values() == nil ? nil : (root, again)
    }

    /// Whether there is a dictionary. Another entry with a former key is of another program.
    private static func isRoot(_ reading: RootSnapshot) throws -> Bool {
        do throws(PrefsError) {
            return try reading.values() != nil
        } catch {
            if case .rootIsNotDictionary = error { return false }
            throw error
        }
    }

    /// The root as a transaction has found it, or the former one.
    private func rootToMove(_ stored: [String: StoredValue]?) throws -> (
        formerKey: String?, values: [String: StoredValue]?
    ) {
        guard stored == nil, let former = try formerRoot(insteadOf: RootSnapshot(of: root, in: nil)) else {
            return (nil, stored)
        }
        return (former.key, try former.reading.values())
    }

    // MARK: - Writing

    /// An equal write changes nothing. The store decides whether what it equals is durable.
    mutating func acknowledge() throws {
        let store = store
        if try store.acknowledge(revision) { noteSuccess(of: store) }
    }

    /// After a write that succeeded, an error of its read no longer applies: a damaged file, for example, was quarantined and
    /// replaced. The write's own warning takes its place.
    private mutating func noteSuccess(of store: any RootStore) {
        warning = store.takeWarning()
    }

    /// Changes the root in a transaction of its own, or as a part of the thread's.
    ///
    /// - Parameters:
    ///   - isChecked: whether the values were made by the property itself.
    ///   - revised: returns another change for the root from which the transaction starts; nil if the change applies to it.
    mutating func commit(
        _ change: RootChange, isChecked: Bool = false,
        revised: ([String: StoredValue]?) throws -> RootChange? = { _ in nil }
    ) throws {
        guard !change.isEmpty else { return try acknowledge() }
        if !isChecked { try state.declarations.check(change.assigned) }
        // Before the store is locked, and again with the layers of that time.
        try checkCovers(change)
        hasReachedStore = true
        let store = store
        try store.replace(root: root) { try changed($0) { try revised($0) ?? change } }
        noteSuccess(of: store)
    }

    /// The same with a change that depends on the state that the transaction starts from.
    mutating func commit(_ change: ([String: StoredValue]?) throws -> RootChange) throws {
        hasReachedStore = true
        let store = store
        try store.replace(root: root) {
            try changed($0) {
                let change = try change(merged($0))
                try state.declarations.check(change.assigned)
                return change
            }
        }
        noteSuccess(of: store)
    }

    /// A transaction around what other accesses do in the body, and a change that the body gives at its end.
    mutating func transact(_ body: ([String: StoredValue]?) throws -> RootChange?) throws {
        hasReachedStore = true
        let store = store
        let access = self
        try store.update(root: root) { stored in
            let stored = try access.state.current(access.rootToMove(stored).values, root: access.root)
            let change = try body(access.merged(stored))
            guard let change, !change.isEmpty else { return }
            try access.state.declarations.check(change.assigned)
            // In the same way as the nested accesses, so that it applies to their result.
            try store.replace(root: access.root) { try access.changed($0) { _ in change } }
        }
        // It has read nothing before.
        warning = store.takeWarning()
    }

    /// Removes the allowed keys, and the root if it contains nothing else.
    mutating func clear(_ allowed: AllowedKeys) throws {
        hasReachedStore = true
        let store = store
        let schema = state.declarations.schema
        let isFlat = store.layout == .flat
        let formerKeys = isFlat ? [] : state.declarations.formerRoots(of: root)
        let access = self
        try store.update(root: root) { values in
            // An update may remove what is not a dictionary; this one must not.
            _ = try store.snapshot(of: access.root).values()
            let (formerKey, found) = try access.rootToMove(values)
            guard let current = try schema.current(found, root: access.root) else { return }
            var rest: [String: StoredValue]? = current
            let change = RootChange(from: allowed.visible(in: current), to: [:])
            try schema.droppingFormerKeys(change, of: current).apply(to: &rest)
            if let formerKey { try store.update(root: formerKey) { $0 = nil } }
            // An empty root hides the other former ones.
            let hasFormer = try formerKeys.contains { try Self.isRoot(store.snapshot(of: $0)) }
            values = rest?.isEmpty == true && !isFlat && !hasFormer ? nil : rest.map(schema.withVersion)
        }
        noteSuccess(of: store)
    }

    /// Removes the root, whatever it is; from a flat domain, which others use too, only what belongs to the class.
    mutating func remove(_ allowed: AllowedKeys) throws {
        hasReachedStore = true
        let store = store
        let schema = state.declarations.schema
        let isShared = store.layout == .flat
        let formerKeys = state.declarations.formerRoots(of: root)
        try store.update(root: root) { values in
            values = isShared ? values?.filter { !allowed.contains($0.key) && !schema.ownKeys.contains($0.key) } : nil
            for key in isShared ? [] : formerKeys where try Self.isRoot(store.snapshot(of: key)) {
                try store.update(root: key) { $0 = nil }
            }
        }
        noteSuccess(of: store)
    }

    /// A root in the shape of now, between the layers.
    private func merged(_ current: [String: StoredValue]?) -> [String: StoredValue]? {
        guard let layers = store.layers else { return current }
        return state.merged(current, with: layers, root: root).values
    }

    /// - Throws: `PrefsError.coveredByLayer`.
    private func checkCovers(_ change: RootChange) throws(PrefsError) {
        guard let layers = store.layers else { return }
        let covered = (Array(change.assigned.keys) + change.removed).compactMap { key in
            state.layered(key, in: layers, root: root).above.map {
                CoveredKey(key: key, layer: $0.layer, place: $0.place)
            }
        }
        if !covered.isEmpty { throw .coveredByLayer(covered.sorted { $0.key < $1.key }) }
    }

    /// What a change makes of a root, in the shape of now; nil if it changes nothing.
    private func changed(
        _ stored: [String: StoredValue]?, by change: ([String: StoredValue]?) throws -> RootChange
    ) throws -> [String: StoredValue]? {
        let schema = state.declarations.schema
        let (formerKey, stored) = try rootToMove(stored)
        var current = try schema.current(stored, root: root)
        let migrated = schema.migrated(stored, to: current)
        let uncovered = try change(current)
        try checkCovers(uncovered)
        let change = schema.droppingFormerKeys(uncovered, of: current)
        // An unchanged root keeps its old shape, too.
        guard try change.apply(to: &current), let current else { return nil }
        if !migrated.isEmpty, (try? state.declarations.check(migrated)) == nil {
            // A faulty step may have lost what the value was made of.
            try Transaction.current?.session?.quarantine()
        }
        if let formerKey { try store.update(root: formerKey) { $0 = nil } }
        return schema.withVersion(current)
    }
}
