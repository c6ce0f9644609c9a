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
            return view(
                RootView(self, nil, in: roots.currentLayers(), failure: error), &outcome)
        }
        if let warning = found.warning { outcome.note(PrefsError(warning)) }
        // A state without a revision may belong to the thread's own update.
        let layers = roots.currentLayers(mayBeInside: found.revision == nil)
        let view = RootView(
            self, roots.layout.entry(of: key, in: found.content),
            hasAllValues: found.hasAllEntries || roots.layout != .flat,
            revision: roots.revision(found.revision, in: layers), durability: found.durability, in: layers,
            form: found.form)
        if layers == nil, !state.hasFormerRoots { return view }
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
            at(around?.root ?? key), entry.value, hasAllValues: false, in: around?.layers,
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
        guard roots.layers == nil, !state.hasFormerRoots else { return nil }
        return roots.domain?.knownEntry(of: key).map { RootView(self, $0, in: nil) }
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
            : try RootView(self, nil, in: roots.currentLayers(), form: roots.form).difference(by: write, &outcome)
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
            let checked = try state.declarations.checked(change, as: view.form)
            // Applied like an access in the body, so that it starts from the result of the others.
            try roots.transact(on: key) { try apply(.keys(checked), checked, in: $0) }
        }
        outcome.recordSuccess(roots.takeWarning())
    }

    /// The state in a transaction of this root.
    func view(in transaction: Transaction) throws -> RootView {
        let view = RootView(
            self, transaction.entry(of: key, roots.layout), in: roots.currentLayers(),
            form: transaction.session?.form ?? .exact)
        return state.hasFormerRoots && view.entry == nil ? try formerView(insteadOf: view, true) : view
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

    private func effect(
        of write: RootWrite, _ earlier: RootChange?, in transaction: Transaction
    ) throws -> RootEffect? {
        let view = try view(in: transaction)
        var ignored = AccessOutcome()
        return try view.difference(by: write, after: earlier, &ignored).flatMap { try view.effect(of: $0, by: write) }
    }
}

// MARK: - A write as data

/// A write to one root, as data. The effect of most cases depends on the state that they are applied to.
enum RootWrite {
    /// A difference. Other keys of the root do not matter.
    case keys(RootChange)
    /// A value for one key, vetted by its property, which keeps the fields of the value that it replaces. nil removes
    /// the key, and a null stands for nil in place of another default.
    case property(key: String, StoredValue?, any DeclaredProperty)
    /// New values for allowed keys. With `merging`, the other keys stay. Without, the other allowed keys are removed, and
    /// an entry that is no dictionary is replaced.
    case assign([String: Any], merging: Bool, AllowedKeys)
    /// The removal of all allowed keys, and of the root if it contains nothing else.
    case clear(AllowedKeys)
    /// The removal of the root, of any type. In a flat domain, which others use too, only the removal of the entries of
    /// the class.
    case remove(AllowedKeys)
}

/// The effect of a write on a root.
struct RootEffect {
    /// The change of a root that otherwise stays as it is, in the form in which the values are stored; nil if the root
    /// is replaced.
    var difference: RootChange?
    /// The values that replace the root, in the current shape; nil if the root is removed.
    var values: [String: StoredValue]?
    /// The former root keys whose entries go with the change.
    var movedRoots: [String] = []
    /// What does not fit in the result of the migrations. A faulty step may have lost values, so the stored state is kept
    /// in quarantine.
    var mismigration: String?
}

extension RootView {
    /// The difference that a write makes in this state; nil if it changes nothing. Called with the newest known state, to
    /// reject a write and to acknowledge an equal one before the domain is locked, and again with the state in the
    /// transaction.
    ///
    /// - Parameter earlier: the difference in the state before the domain was locked; nil in that state.
    func difference(
        by write: RootWrite, after earlier: RootChange? = nil, _ outcome: inout AccessOutcome
    ) throws -> RootChange? {
        let difference: RootChange
        switch write {
        case .keys(let own):
            if let earlier {
                difference = earlier
                // Of a value that another process has stored since, nobody has asked whether it can be read.
                if earlier.replacesUnreadable {
                    let unchecked = try own.rebased { key throws(PrefsError) in try stored(key) }
                    _ = try root.state.declarations.checked(unchecked, as: form)
                }
            } else {
                difference = try root.state.declarations.checked(own, as: form)
            }
        case .property(let key, let value, let property):
            // Another process may have stored or removed unknown fields in the meantime.
            let stored = try valueToReplace(forKey: key)
            // A layer above says nil, too. The write would remove the key, or store a null.
            if value?.isNull ?? true, stored?.isNull == true, layers.map({ layered(key, in: $0).above != nil }) == true
            {
                return nil
            }
            if let earlier, earlier.isMade(of: stored, forKey: key) {
                difference = earlier
            } else {
                difference = try .init(of: key, from: stored, to: value, property, in: self)
            }
        case .assign(let values, let isMerging, let allowed):
            // Also replaces values that others have written in between.
            let view = isMerging ? self : replaceable
            difference = try .init(values, merging: isMerging, allowed, over: view.values(&outcome), root.state)
            // No values replace an entry that is no dictionary, too.
            if difference.isEmpty, view.entry == nil, entry != nil { return difference }
            _ = try root.state.declarations.checked(difference, as: form)
        case .clear(let allowed):
            guard let stored = try storedValues() else { return nil }
            let own = stored.filter { allowed.contains($0.key) }
            // An empty root is removed, too.
            return own.isEmpty && !stored.isEmpty ? nil : RootChange(from: own, to: [:])
        case .remove:
            // Also removes an entry that is not a dictionary.
            if let failure { throw failure }
            return entry == nil ? nil : .nothing
        }
        if difference.isEmpty { return nil }
        try checkCovers(difference)
        return difference
    }

    /// What a write does to the root in this state. Called in the transaction. May read former roots there, and runs the
    /// code of migrations, codings and `keys`.
    ///
    /// - Parameter difference: the difference that the write makes in this state.
    func effect(of difference: RootChange, by write: RootWrite) throws -> RootEffect? {
        switch write {
        case .keys, .property: try effect(of: difference)
        case .assign(_, let isMerging, _):
            difference.isEmpty
                ? RootEffect(values: root.schema.withVersion([:]))
                : try (isMerging ? self : replaceable).effect(of: difference)
        case .clear: try clearing(difference)
        case .remove(let allowed): try removing(allowed)
        }
    }

    private func effect(of difference: RootChange) throws -> RootEffect? {
        let schema = root.schema
        if schema.isTrivial, formerKey == nil {
            // An update may have thousands of writes, so none of them looks at the keys of the others.
            return RootEffect(difference: try written(difference))
        }
        var values = try storedValues()
        let migrated = schema.migrated(try dictionary(), to: values)
        // An unchanged root keeps its old shape, too.
        guard try schema.droppingFormerKeys(difference, of: values).apply(to: &values), let values else { return nil }
        return RootEffect(
            values: schema.withVersion(try written(values)), movedRoots: formerKey.map { [$0] } ?? [],
            mismigration: mismigration(in: migrated))
    }

    /// What does not fit among the values that migrations have made, as a clause; nil if all fit.
    private func mismigration(in migrated: [String: StoredValue]) -> String? {
        if migrated.isEmpty { return nil }
        do throws(PrefsError) {
            try root.state.declarations.check(migrated)
            return nil
        } catch {
            let failures = error.failures.map(\.description)
            return "the migration of the root \"\(ShownText.key(root.key))\" to version \(root.schema.newest) "
                + "gave values that do not fit: \(failures.first ?? "")"
                + (failures.count > 1 ? " and \(failures.count - 1) more" : "")
        }
    }

    private func clearing(_ difference: RootChange) throws -> RootEffect {
        let schema = root.schema
        var rest = try storedValues()
        try schema.droppingFormerKeys(difference, of: rest).apply(to: &rest)
        // An empty root hides the other former roots.
        let isHiding = try otherFormerRoots().isEmpty == false
        let isNeeded = rest?.isEmpty == false || isHiding || root.roots.layout == .flat
        return RootEffect(
            values: isNeeded ? try rest.map(written).map(schema.withVersion) : nil,
            movedRoots: formerKey.map { [$0] } ?? [])
    }

    private func removing(_ allowed: AllowedKeys) throws -> RootEffect {
        guard root.roots.layout == .flat else {
            return RootEffect(movedRoots: (formerKey.map { [$0] } ?? []) + (try otherFormerRoots()))
        }
        let own = root.schema.ownKeys
        return RootEffect(values: try dictionary()?.filter { !allowed.contains($0.key) && !own.contains($0.key) })
    }

    /// The former root keys that have a root, except for the key of this state.
    private func otherFormerRoots() throws -> [String] {
        if root.roots.layout == .flat { return [] }
        return try root.state.declarations.formerRoots(of: root.key).filter {
            try $0 != formerKey && root.values(ofFormer: $0) != nil
        }
    }
}

extension RootChange {
    /// A value for one key, vetted, with the fields of the value that it replaces.
    fileprivate init(
        of key: String, from stored: StoredValue?, to value: StoredValue?, _ property: any DeclaredProperty,
        in view: RootView
    ) throws(PrefsError) {
        // Where the file cannot have a null, no value stands for nil.
        let value = view.form == .exact && value?.isNull == true ? nil : value
        let whole = value.map { value in
            stored.map { property.withUnknownFields(value, of: $0, as: view.form, in: view.root.state) } ?? value
        }
        self = try RootChange(of: key, from: stored, to: whole).checked()
    }

    fileprivate init(
        _ values: [String: Any], merging: Bool, _ allowed: AllowedKeys, over stored: [String: StoredValue]?,
        _ state: InstanceState
    ) throws(PrefsError) {
        let before = state.visibleValues(stored, allowed)
        try self.init(
            from: before.values, shownAs: before.objects, to: merging ? before.objects.merging(values) { $1 } : values,
            allowed: allowed)
    }
}
