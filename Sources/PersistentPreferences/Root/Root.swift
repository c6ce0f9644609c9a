import PrefsFileEngine
import PrefsPropertyLists

/// One root of a domain, as one class sees it.
///
/// Reads the overridable `key` and the store once, so that an access never mixes two stores, even if a test begins or
/// ends at that moment.
struct Root {
    private(set) var key: String
    let roots: Roots
    let state: InstanceState

    /// - Throws: `PrefsError.invalidName`.
    init(_ key: String, of state: InstanceState) throws(PrefsError) {
        try NameVetting.checkRoot(key)
        self.key = key
        self.state = state
        roots = state.roots
    }

    var schema: RootSchema { state.declarations.schema }

    // MARK: - Reading

    /// The current state.
    ///
    /// - Parameters:
    ///   - name: the key of the only value that is needed; nil for all.
    ///   - isForWriting: whether a write depends on the state.
    func view(
        of name: String? = nil, isForWriting: Bool = false, _ outcome: inout AccessOutcome
    ) throws -> RootView {
        let found: DomainState
        do {
            found = try domainState(name, isForWriting)
        } catch {
            guard roots.layers != nil else { throw error }
            // The layers go on working.
            let error = PrefsError(error)
            outcome.passOverBase(error)
            return view(RootView(self, nil, in: roots.currentLayers(), failure: error), &outcome)
        }
        if let warning = found.warning { outcome.note(PrefsError(warning)) }
        // A state without a revision may belong to the thread's own update.
        let layers = roots.currentLayers(mayBeInside: found.revision == nil)
        let view = RootView(
            self, roots.layout.entry(of: key, in: found.content),
            isWhole: found.isWhole || roots.layout != .flat,
            revision: roots.revision(found.revision, in: layers), in: layers, form: found.form)
        return layers == nil && !state.hasFormerRoots
            ? view : try formerView(insteadOf: self.view(view, &outcome), isForWriting)
    }

    private func view(_ view: RootView, _ outcome: inout AccessOutcome) -> RootView {
        if let layers = view.layers { outcome.note(layers.faults(of: key)) }
        return view
    }

    private func domainState(_ name: String?, _ isForWriting: Bool) throws -> DomainState {
        guard roots.layout == .flat else { return try roots.state(of: .root(key), isForWriting: isForWriting) }
        guard let name else { return try roots.state(of: .everything, isForWriting: isForWriting) }
        let state = try roots.state(of: .entries(schema.keysNeeded(for: name)), isForWriting: isForWriting)
        // A migration needs all values.
        if state.isWhole || schema.hasVersion(state.content ?? [:]) { return state }
        return try roots.state(of: .everything, isForWriting: isForWriting)
    }

    /// The view of a state that an observer has received.
    func view(of entry: EntryState) -> RootView {
        let around = entry.layers
        return RootView(
            at(around?.root ?? key), entry.value, isWhole: false, in: around?.layers,
            form: roots.form)
    }

    /// Another root of the same class and store.
    func at(_ key: String) -> Root {
        var root = self
        root.key = key
        return root
    }

    /// The view of the root under a former root key, if the root itself is missing.
    private func formerView(insteadOf view: RootView, _ isForWriting: Bool) throws -> RootView {
        let formerKeys = state.declarations.formerRoots(of: key)
        if formerKeys.isEmpty || roots.layout == .flat || view.failure != nil { return view }
        guard view.entry == nil else { return view }
        for formerKey in formerKeys {
            if let values = try values(ofFormer: formerKey, isForWriting) {
                return view.found(.dictionary(values), under: formerKey)
            }
        }
        // Another process may have moved it between the two looks.
        let again = try roots.state(of: .root(key), isForWriting: isForWriting)
        return view.found(roots.layout.entry(of: key, in: again.content), under: nil)
    }

    /// The values under a former root key; nil if they are missing. An entry of another type belongs to another
    /// program.
    func values(ofFormer formerKey: String, _ isForWriting: Bool = true) throws -> [String: StoredValue]? {
        try roots.state(of: .root(formerKey), isForWriting: isForWriting).content?[formerKey]?.dictionary
    }

    // MARK: - Writing

    /// Acknowledges an equal write, which changes nothing. The domain makes the equal state durable if necessary.
    func acknowledge(_ revision: Revision?, _ outcome: inout AccessOutcome) throws {
        if try roots.confirm(revision) { outcome.hasSucceeded(roots.takeWarning()) }
    }

    /// Changes the root in a new transaction, or as a part of the thread's transaction.
    ///
    /// - Parameters:
    ///   - name: the only key that the change depends on; nil for all.
    ///   - known: the difference to a state that was read before, and the revision of that state.
    func commit(
        _ change: Change, of name: String? = nil, knowing known: (difference: RootChange?, revision: Revision?)? = nil,
        _ outcome: inout AccessOutcome
    ) throws {
        let (difference, revision) = try known ?? lookedAt(change, name, &outcome)
        guard let difference else { return try acknowledge(revision, &outcome) }
        outcome.hasReachedDomain = true
        try roots.reached().change(key, durability: roots.durability) { try apply(change, difference, in: $0) }
        outcome.hasSucceeded(roots.takeWarning())
    }

    /// The difference that a write to some keys makes from the values that it replaces, and the revision of their state.
    /// Keeps nothing else of the state, so that the write can change it in place.
    func difference(
        inKeys names: [String], _ outcome: inout AccessOutcome,
        _ make: ([String: StoredValue]) throws -> RootChange
    ) throws -> (RootChange, Revision?) {
        func change(in view: RootView) throws -> RootChange {
            var before: [String: StoredValue] = [:]
            for name in names { before[name] = try view.valueToReplace(forKey: name) }
            return try make(before)
        }
        // What is equal in a known state may differ in a newer one.
        if let known = knownView.flatMap({ try? change(in: $0) }), known.count == Set(names).count {
            return (known, nil)
        }
        let view = try view(of: names.count == 1 ? names[0] : nil, isForWriting: true, &outcome)
        return (try change(in: view), view.revision)
    }

    /// The difference that a change would make in the current state; nil if it would change nothing.
    private func lookedAt(
        _ change: Change, _ name: String?, _ outcome: inout AccessOutcome
    ) throws -> (RootChange?, Revision?) {
        if let known = knownView {
            var ignored = AccessOutcome(of: state)
            if let difference = try? known.difference(by: change, &ignored) { return (difference, nil) }
        }
        let view = try view(of: name, isForWriting: true, &outcome)
        return (try view.difference(by: change, &outcome), view.revision)
    }

    /// A remote root as this process knows it, which saves a request: the store applies a change to the newest state. nil
    /// if a change has to start from the newest state.
    private var knownView: RootView? {
        guard roots.layers == nil, !state.hasFormerRoots else { return nil }
        return (roots.domain as? ForeignDomain)?.knownEntry(of: key).map { RootView(self, $0, in: nil) }
    }

    /// Commits a difference to a state that was read before. Checks the difference first.
    func commit(_ difference: RootChange, seenAt revision: Revision?, _ outcome: inout AccessOutcome) throws {
        if !difference.isEmpty {
            try state.declarations.check(difference, as: roots.form)
            // Checked before the domain is locked, and again later with the layers of that time.
            try RootView(self, nil, in: roots.currentLayers()).checkCovers(difference)
        }
        try commit(.keys(difference), knowing: (difference.isEmpty ? nil : difference, revision), &outcome)
    }

    /// Runs a transaction around the accesses in the body and the change that the body returns.
    func transact(_ outcome: inout AccessOutcome, _ body: ([String: StoredValue]?) throws -> RootChange?) throws {
        outcome.hasReachedDomain = true
        try roots.transact(on: key) { transaction in
            let view = try view(in: transaction)
            let isDictionary = view.entry.map { $0.dictionary != nil } ?? true
            let change = try body(isDictionary ? view.values() : nil)
            // An entry that is not a dictionary can only be removed.
            guard isDictionary else { throw PrefsError.rootIsNotDictionary(key: key) }
            guard let change, !change.isEmpty else { return }
            try state.declarations.check(change, as: view.form)
            // Applied like an access in the body, so that it starts from the result of the others.
            try roots.transact(on: key) { try apply(.keys(change), change, in: $0) }
        }
        outcome.hasSucceeded(roots.takeWarning())
    }

    /// The state in a transaction of this root.
    private func view(in transaction: Transaction) throws -> RootView {
        let view = RootView(
            self, transaction.entry(of: key, roots.layout), in: roots.currentLayers(),
            form: transaction.session?.form ?? .exact)
        return state.hasFormerRoots && view.entry == nil ? try formerView(insteadOf: view, true) : view
    }

    private func apply(_ change: Change, _ difference: RootChange, in transaction: Transaction) throws {
        // Before the code of the class runs, which may write to the root.
        var before = transaction.entry(of: key, roots.layout)
        guard let effect = try view(in: transaction).applying(change, difference) else { return }
        if let difference = effect.difference {
            // A dictionary with two owners is copied when it changes.
            before = nil
            return try transaction.apply(difference, to: key, roots.layout)
        }
        if effect.replacesMismigrated { try Transaction.current?.session?.quarantine() }
        for formerKey in effect.movedRoots { try roots.transact(on: formerKey) { $0.replace(formerKey, with: nil) } }
        try transaction.replace(root: key, roots.layout, before, with: effect.values)
    }
}
