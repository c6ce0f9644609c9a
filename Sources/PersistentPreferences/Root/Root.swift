import PrefsFileEngine
import PrefsPropertyLists

/// One root of a domain, as one class sees it.
///
/// Reads the overridable `key` and the store once, so that an access never mixes two stores, even if a test begins or
/// ends at that moment.
struct Root {
    let key: String
    let roots: Roots
    let instance: RootInstance

    /// - Throws: `PrefsError.invalidName`.
    init(_ key: String, of instance: RootInstance) throws(PrefsError) {
        try NameVetting.checkRoot(key)
        self.key = key
        self.instance = instance
        roots = instance.roots
    }

    var schema: RootSchema { instance.declarations.schema }

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
            return view(RootView(of: key, instance, nil, in: roots.currentLayers(), failure: error), &outcome)
        }
        if let warning = found.warning { outcome.note(PrefsError(warning)) }
        // A state without a revision may belong to the thread's own update.
        let layers = roots.currentLayers(mayBeInside: found.revision == nil)
        let view = RootView(
            of: key, instance, roots.layout.entry(of: key, in: found.content),
            hasAllValues: found.hasAllEntries || roots.layout != .flat,
            revision: roots.revision(found.revision, in: layers), durability: found.durability, in: layers,
            form: found.format.form)
        if layers == nil, !instance.hasFormerRoots { return view }
        return try formerView(insteadOf: self.view(view, &outcome), isForWriting)
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
        if state.hasAllEntries || schema.hasVersion(state.content ?? [:]) { return state }
        return try roots.state(of: .everything, isForWriting: isForWriting)
    }

    /// The view of a state that an observer has received.
    func view(of entry: EntryState) -> RootView {
        let around = entry.layers
        return RootView(
            of: around?.root ?? key, instance, entry.value, hasAllValues: false, in: around?.layers,
            form: roots.form)
    }

    /// The view of the root under a former root key, if the root itself is missing.
    private func formerView(insteadOf view: RootView, _ isForWriting: Bool) throws -> RootView {
        let formerKeys = instance.declarations.formerRoots(of: key)
        if formerKeys.isEmpty || roots.layout == .flat || view.failure != nil { return view }
        guard view.entry == nil else { return view }
        for formerKey in formerKeys {
            let found = try roots.state(of: .root(formerKey), isForWriting: isForWriting)
            if let values = found.content?[formerKey]?.dictionary {
                return view.replacingEntry(.dictionary(values), under: formerKey, found.durability)
            }
        }
        // Another process may have moved it between the two looks.
        let again = try roots.state(of: .root(key), isForWriting: isForWriting)
        return view.replacingEntry(roots.layout.entry(of: key, in: again.content), under: nil, again.durability)
    }

    /// The values under a former root key; nil if they are missing. An entry of another type belongs to another
    /// program.
    func values(ofFormer formerKey: String, _ isForWriting: Bool = true) throws -> [String: StoredValue]? {
        try roots.state(of: .root(formerKey), isForWriting: isForWriting).content?[formerKey]?.dictionary
    }

    // MARK: - Writing

    /// Changes the root in a new transaction, or as a part of the thread's transaction. A write that is equal to a state that
    /// is as durable as it has to be changes nothing.
    ///
    /// - Parameters:
    ///   - name: the only key that the change depends on; nil for all.
    ///   - known: the difference to a state that was read before, and the durability of that state.
    @inline(never) func commit(
        _ write: RootWrite, of name: String? = nil,
        knowing known: (difference: RootChange?, durability: CommitDurability)? = nil,
        _ outcome: inout AccessOutcome
    ) throws {
        let (difference, durability) = try known ?? currentDifference(write, name, &outcome)
        if difference == nil, durability >= roots.durability { return }
        outcome.hasReachedDomain = true
        try roots.requiredDomain().change(key, durability: roots.durability) { try apply(write, difference, in: $0) }
        outcome.recordSuccess(roots.takeWarning())
    }

    /// The difference that a write to some keys makes from the values that it replaces, and the durability of their state.
    /// Keeps nothing else of the state, so that the write can change it in place.
    ///
    /// - Parameter objects: the new values, as objects of a user; nil to remove the values.
    func difference(
        inKeys names: [String], to objects: [String: Any]?, _ outcome: inout AccessOutcome
    ) throws -> (RootChange, CommitDurability) {
        func change(in view: RootView) throws -> RootChange {
            var before: [String: StoredValue] = [:]
            for name in names { before[name] = try view.valueToReplace(forKey: name) }
            guard let objects else { return RootChange(from: before, to: [:]) }
            return try RootChange(from: before, shownAs: [:], to: objects)
        }
        // What is equal in a known state may differ in a newer one.
        if let known = knownView.flatMap({ try? change(in: $0) }), known.count == Set(names).count {
            return (known, .powerCut)
        }
        let view = try view(of: names.count == 1 ? names[0] : nil, isForWriting: true, &outcome)
        return (try change(in: view), view.durability)
    }

    /// The difference that a write would make in the current state; nil if it would change nothing.
    private func currentDifference(
        _ write: RootWrite, _ name: String?, _ outcome: inout AccessOutcome
    ) throws -> (RootChange?, CommitDurability) {
        if let known = knownView {
            var ignored = AccessOutcome()
            if let difference = try? known.difference(by: write, &ignored) { return (difference, .powerCut) }
        }
        let view = try view(of: name, isForWriting: true, &outcome)
        return (try view.difference(by: write, &outcome), view.durability)
    }

    /// A remote root as this process knows it, which saves a request: the store applies a change to the newest state. nil
    /// if a change has to start from the newest state.
    private var knownView: RootView? {
        guard roots.layers == nil, !instance.hasFormerRoots else { return nil }
        return roots.domain?.knownEntry(of: key).map { RootView(of: key, instance, $0, in: nil) }
    }

    /// Commits a difference to a state that was read before, with that durability. Checks the difference first.
    func commit(
        _ difference: RootChange, over durability: CommitDurability, _ outcome: inout AccessOutcome
    ) throws {
        let write = RootWrite.keys(difference)
        // The covers are checked again in the transaction, with the layers of that time.
        let checked =
            difference.isEmpty
            ? nil
            : try RootView(of: key, instance, nil, in: roots.currentLayers(), form: roots.form).difference(
                by: write, &outcome)
        try commit(write, knowing: (checked, durability), &outcome)
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
            let checked = try instance.declarations.checked(change, as: view.form)
            // Applied like an access in the body, so that it starts from the result of the others.
            try roots.transact(on: key) { try apply(.keys(checked), checked, in: $0) }
        }
        outcome.recordSuccess(roots.takeWarning())
    }

    /// The state in a transaction of this root.
    func view(in transaction: Transaction) throws -> RootView {
        let view = RootView(
            of: key, instance, transaction.entry(of: key, roots.layout), in: roots.currentLayers(),
            form: transaction.session?.format.form ?? .exact)
        return instance.hasFormerRoots && view.entry == nil ? try formerView(insteadOf: view, true) : view
    }

    /// - Parameter earlier: the difference that the write makes in the state before the domain was locked; nil for none.
    private func apply(_ write: RootWrite, _ earlier: RootChange?, in transaction: Transaction) throws {
        // Before the code of the class runs, which may write to the root.
        var before = transaction.entry(of: key, roots.layout)
        guard let effect = try effect(of: write, earlier, in: transaction) else { return }
        try judge(afterwards: transaction)
        if let difference = effect.difference {
            // A dictionary with two owners is copied when it changes.
            before = nil
            return try transaction.apply(difference, to: key, roots.layout)
        }
        transaction.reasonToKeepFormer = effect.mismigration ?? transaction.reasonToKeepFormer
        for formerKey in effect.movedRoots { try roots.transact(on: formerKey) { $0.replace(formerKey, with: nil) } }
        try transaction.replace(root: key, roots.layout, before, with: effect.values)
    }

    // MARK: - The effect of a write

    private func effect(
        of write: RootWrite, _ earlier: RootChange?, in transaction: Transaction
    ) throws -> RootEffect? {
        let view = try view(in: transaction)
        var ignored = AccessOutcome()
        return try view.difference(by: write, after: earlier, &ignored).flatMap {
            try effect(of: $0, by: write, in: view)
        }
    }

    /// What a write does to the root in a state. Called in the transaction. May read former roots there, and runs the
    /// code of migrations, codings and `keys`.
    ///
    /// - Parameter difference: the difference that the write makes in this state.
    private func effect(of difference: RootChange, by write: RootWrite, in view: RootView) throws -> RootEffect? {
        switch write {
        case .keys, .property: try view.effect(of: difference)
        case .assign(_, let isMerging, _):
            difference.isEmpty
                ? RootEffect(values: schema.withVersion([:]))
                : try (isMerging ? view : view.replaceable).effect(of: difference)
        case .clear: try clearing(difference, in: view)
        case .remove(let allowed): try removing(allowed, in: view)
        }
    }

    private func clearing(_ difference: RootChange, in view: RootView) throws -> RootEffect {
        var rest = try view.storedValues()
        try schema.droppingFormerKeys(difference, of: rest).apply(to: &rest)
        // An empty root hides the other former roots.
        let isHiding = try otherFormerRoots(than: view).isEmpty == false
        let isNeeded = rest?.isEmpty == false || isHiding || roots.layout == .flat
        return RootEffect(
            values: isNeeded ? try rest.map(view.written).map(schema.withVersion) : nil,
            movedRoots: view.formerKey.map { [$0] } ?? [])
    }

    private func removing(_ allowed: AllowedKeys, in view: RootView) throws -> RootEffect {
        guard roots.layout == .flat else {
            return RootEffect(movedRoots: (view.formerKey.map { [$0] } ?? []) + (try otherFormerRoots(than: view)))
        }
        let own = schema.ownKeys
        return RootEffect(values: try view.dictionary()?.filter { !allowed.contains($0.key) && !own.contains($0.key) })
    }

    /// The former root keys that have a root, except for the key of a state.
    private func otherFormerRoots(than view: RootView) throws -> [String] {
        if roots.layout == .flat { return [] }
        return try instance.declarations.formerRoots(of: key).filter {
            try $0 != view.formerKey && values(ofFormer: $0) != nil
        }
    }

    // MARK: - Rules

    /// The rules of a class judge what a transaction as a whole would store: each write in it may violate them for a while. A
    /// rule that the state before violated, too, rejects nothing, so that a person's mistake in a file blocks no other key.
    private func judge(afterwards transaction: Transaction) throws {
        if instance.declarations.rules.isEmpty { return }
        // An update of a store of another module is around the transaction of each write in it.
        try (roots.domain?.transaction ?? transaction).beforeCommit(of: key, for: instance) {
            let before = try view(in: transaction)
            return { whole in
                var ignored = AccessOutcome()
                let after = try whole.isChanged ? view(in: whole) : view(isForWriting: true, &ignored)
                let violated = after.violatedRules
                let former = violated.isEmpty ? [] : before.violatedRules.map(\.number)
                let new = violated.filter { !former.contains($0.number) }
                if !new.isEmpty { throw PrefsError.ruleViolated(new.map(\.text)) }
            }
        }
    }
}
