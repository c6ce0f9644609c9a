import PrefsFileEngine

/// One access to one root, in the shape that the class wants of it. The open `key` is read once for it.
struct PrefsAccess {
    let root: String
    private let state: InstanceState
    /// Something to report although the access succeeds.
    var warning: PrefsError?
    /// Of what was read last.
    var revision: Revision?
    /// What is read in the place of what is stored, if anything.
    var past: PastState?
    /// Whether the store itself has had the write, and so knows of its failure.
    private(set) var hasReachedStore = false

    init(root: String, state: InstanceState) throws(PrefsError) {
        try NameVetting.checkRoot(root)
        self.root = root
        self.state = state
    }

    // MARK: - Reading

    /// Everything stored under the root, as of now; nil where nothing is.
    mutating func values() throws -> [String: Any]? {
        try values(in: look())
    }

    /// The same of what a look has found.
    func values(in reading: RootSnapshot) throws(PrefsError) -> [String: Any]? {
        try state.current(reading.values(), root: root)
    }

    /// One of the values, without the others if possible.
    func value(forKey key: String, in reading: RootSnapshot) throws(PrefsError) -> Any? {
        let schema = state.declarations.schema
        if schema.isTrivial { return try reading.value(forKey: key) }
        guard reading.isReadByKey else { return try values(in: reading)?[key] }
        var part: [String: Any] = [:]
        for name in schema.keysNeeded(for: key) { part[name] = try reading.value(forKey: name) }
        guard schema.hasVersion(part) else { return try values(in: reading)?[key] }
        return try schema.current(part, root: root)?[key]
    }

    /// Whether there is a root, of whatever version.
    mutating func hasRoot() throws -> Bool {
        try look().values() != nil
    }

    /// The state of now, of which nothing is taken yet.
    mutating func look() throws -> RootSnapshot {
        if let past { return RootSnapshot(of: root, in: past.root.map { [root: $0] }) }
        let reading = try state.store.snapshot(of: root)
        if let new = reading.warning { warning = warning ?? new }
        revision = reading.revision
        return reading
    }

    // MARK: - Writing

    /// An equal write changes nothing. The store decides whether what it equals is durable.
    mutating func acknowledge() throws {
        let store = state.store
        if try store.acknowledge(revision) { noteSuccess(of: store) }
    }

    /// After a write that succeeded, an error of its read no longer applies: a damaged file, for example, was quarantined and
    /// replaced. The write's own warning takes its place.
    private mutating func noteSuccess(of store: any RootStore) {
        warning = store.takeWarning()
    }

    /// Changes the root in a transaction of its own, or as a part of the thread's.
    ///
    /// - Parameter isChecked: whether the constraints were looked at when the change was made.
    mutating func commit(_ change: RootChange, isChecked: Bool = false) throws {
        guard !change.isEmpty else { return try acknowledge() }
        if !isChecked { try checkConstraints(change) }
        hasReachedStore = true
        let store = state.store
        try apply(to: store) { _ in change }
        noteSuccess(of: store)
    }

    /// The same with a change that depends on the state that the transaction starts from.
    mutating func commit(_ change: ([String: Any]?) throws -> RootChange) throws {
        hasReachedStore = true
        let access = self
        let store = state.store
        try apply(to: store) {
            let change = try change($0)
            try access.checkConstraints(change)
            return change
        }
        noteSuccess(of: store)
    }

    /// A transaction around what other accesses do in the body, and a change that the body gives at its end.
    mutating func transact(_ body: ([String: Any]?) throws -> RootChange?) throws {
        hasReachedStore = true
        let access = self
        // One for all of it, also if a test begins or ends meanwhile.
        let store = state.store
        try store.update(root: root) { stored in
            let change = try body(access.state.current(stored, root: access.root))
            guard let change, !change.isEmpty else { return }
            try access.checkConstraints(change)
            // By the same way as theirs, so that it comes to what they have left.
            try access.apply(to: store) { _ in change }
        }
        // It has read nothing before.
        warning = store.takeWarning()
    }

    /// Removes the root, whatever it is; from a flat domain, which others use too, only what belongs to the class.
    mutating func remove(_ allowed: AllowedKeys) throws {
        hasReachedStore = true
        let schema = state.declarations.schema
        let store = state.store
        let isShared = store.layout == .flat
        try store.update(root: root) { values in
            values = isShared ? values?.filter { !allowed.contains($0.key) && !schema.ownKeys.contains($0.key) } : nil
        }
        noteSuccess(of: store)
    }

    private func apply(to store: any RootStore, _ change: ([String: Any]?) throws -> RootChange) throws {
        let schema = state.declarations.schema
        try store.replace(root: root) { stored in
            var current = try schema.current(stored, root: root)
            let change = schema.droppingFormerKeys(try change(current), of: current)
            // A root that stays as it is keeps its old shape, too.
            guard try change.apply(to: &current), let current else { return nil }
            return schema.withVersion(current)
        }
    }

    private func checkConstraints(_ change: RootChange) throws(PrefsError) {
        let failures = state.declarations.violations(in: change.assigned)
        if !failures.isEmpty { throw .constraintViolated(failures) }
    }
}
