import PrefsFileEngine
import PrefsPropertyLists

/// A write to one root. What it stores is decided in three steps: the write is data, `difference` compares it with a state
/// of the root, and `Root.effect` says what the difference does to that state.
///
/// `Root.commit` compares it twice: with the state before the domain is locked, to reject it or to acknowledge an equal
/// one at once, and with the state under the lock, because others may have changed the root in between.
enum RootWrite {
    /// A difference that was made from a state. Other keys of the root do not matter.
    case keys(RootChange)
    /// A new value for one key, as an object of a user. In a dictionary, because an enum with an `Any` in it costs each
    /// write 300 instructions.
    case object([String: Any])
    /// A value for one key, vetted by its property, which keeps the fields of the value that it replaces. nil removes
    /// the key, and a null stands for nil in place of another default.
    case property(key: String, StoredValue?, any DeclaredProperty)
    /// The removal of some keys.
    case removal([String])
    /// New values for allowed keys. With `merging`, the other keys stay. Without, the other allowed keys are removed, and
    /// an entry that is no dictionary is replaced.
    case assign([String: Any], merging: Bool, AllowedKeys)
    /// The removal of all allowed keys, and of the root if it contains nothing else.
    case clear(AllowedKeys)
    /// The removal of the root, of any type. In a flat domain, which others use too, only the removal of the entries of
    /// the class.
    case remove(AllowedKeys)

    /// What a write was compared with before.
    enum Comparison {
        case nothing
        /// A state that was read, and that has this durability. Without a difference, the write is equal to the state.
        case state(RootChange?, CommitDurability)
        /// A state that may be out of date: what this process knows of a remote root, or the beginning of an update. Only
        /// a difference counts, because what is equal in such a state may differ in a newer one.
        case known(RootChange)

        /// Whether the write is equal to a state that was read. It has changed nothing, so it may count as made before what
        /// others have stored since.
        var isEqual: Bool { if case .state(nil, _) = self { true } else { false } }

        /// The difference that was found. Nothing else of the state is kept, so that the write can change it in place.
        var difference: RootChange? {
            switch self {
            case .nothing: nil
            case .state(let difference, _): difference
            case .known(let difference): difference
            }
        }
    }

    /// What a write does to a root.
    enum Effect {
        /// Some keys change, and all others stay as they are. The values are in the form in which they are stored.
        case change(RootChange)
        /// The root gets these values, in the current shape; nil removes it. The entries of former root keys go with it.
        ///
        /// `mismigration` is what does not fit in the result of the migrations. A faulty step may have lost values, so the
        /// stored state is kept in quarantine.
        case replace([String: StoredValue]?, moved: [String], mismigration: String? = nil)
    }

    /// The only key that the write depends on; nil if it depends on others, too.
    var onlyKey: String? {
        switch self {
        case .property(let key, _, _): key
        case .object(let object): object.first?.key
        case .removal(let names): names.count == 1 ? names[0] : nil
        case .keys, .assign, .clear, .remove: nil
        }
    }

    // MARK: - The difference

    /// The difference that the write makes in a state; nil if it changes nothing. A difference that was found before is
    /// taken again, unless a property has to keep the fields of another value by now.
    ///
    /// - Throws: why the write is rejected.
    func difference(
        in view: RootView, after former: Comparison, _ outcome: inout AccessOutcome
    ) throws -> RootChange? {
        let declarations = view.instance.declarations
        let difference: RootChange
        switch self {
        case .keys(let own):
            if let known = former.difference {
                difference = try rechecked(known, in: view)
            } else {
                difference = try declarations.checked(own, as: view.form)
            }
        case .object(let object):
            if former.isEqual { return nil }
            if let known = former.difference {
                difference = try rechecked(known, in: view)
            } else {
                let new = try RootChange(
                    from: view.valuesToReplace(forKeys: object.keys), shownAs: [:], to: object)
                difference = try declarations.checked(new, as: view.form)
            }
        case .property(let key, let value, let property):
            // Another process may have stored or removed unknown fields in the meantime.
            let stored = try view.valueToReplace(forKey: key)
            if let known = former.difference, known.isMade(of: stored, forKey: key) {
                difference = known
                break
            }
            // A layer above says nil, too. The write would remove the key, or store a null.
            if value?.isNull ?? true, stored?.isNull == true, view.around(key)?.hasWholeAbove == true { return nil }
            // Where the file cannot have a null, no value stands for nil.
            var whole = view.form == .exact && value?.isNull == true ? nil : value
            if let value = whole, let stored {
                whole = property.withUnknownFields(value, of: stored, as: view.form)
            }
            difference = try RootChange(of: key, from: stored, to: whole).checked()
        case .removal(let names):
            if former.isEqual { return nil }
            difference = RootChange(from: try view.valuesToReplace(forKeys: names), to: [:])
        case .assign(let values, let isMerging, let allowed):
            // Also replaces values that others have written in between.
            let base = isMerging ? view : view.replaceable
            let before = view.instance.visibleValues(try base.values(&outcome), allowed)
            difference = try RootChange(
                from: before.values, shownAs: before.objects,
                to: isMerging ? before.objects.merging(values) { $1 } : values, allowed: allowed)
            // No values replace an entry that is no dictionary, too.
            if difference.isEmpty, base.entry == nil, view.entry != nil { return difference }
            _ = try declarations.checked(difference, as: view.form)
        case .clear(let allowed):
            guard let stored = try view.storedValues() else { return nil }
            let own = stored.filter { allowed.contains($0.key) }
            // An empty root is removed, too.
            return own.isEmpty && !stored.isEmpty ? nil : RootChange(from: own, to: [:])
        case .remove:
            // Also removes an entry that is not a dictionary.
            if let failure = view.failure { throw failure }
            return view.entry == nil ? nil : .nothing
        }
        if difference.isEmpty { return nil }
        if view.layers != nil { try view.checkCovers(difference) }
        return difference
    }

    /// A difference that was checked with another state.
    private func rechecked(_ difference: RootChange, in view: RootView) throws(PrefsError) -> RootChange {
        // Of a value that another process has stored since, nobody has asked whether it can be read.
        if difference.replacesUnreadable {
            let unchecked = RootChange(from: try view.stored(difference.assigned.keys), to: difference.assigned)
            _ = try view.instance.declarations.checked(unchecked, as: view.form)
        }
        return difference
    }
}

extension RootView {
    /// The value that a write to a key replaces: the value of a layer above, which rejects a different one, otherwise
    /// the stored value. Layers below do not matter, because they are never written.
    func valueToReplace(forKey key: String) throws(PrefsError) -> StoredValue? {
        guard let layers else { return try stored(key) }
        guard around(key)?.cover != nil else {
            return try fieldsWritten(of: try stored(key), forKey: key, as: try raw(key))
        }
        return try layers.value(ofCovered: key, over: self)
    }

    /// The values that a write to some keys replaces.
    func valuesToReplace(forKeys keys: some Sequence<String>) throws(PrefsError) -> [String: StoredValue] {
        var values: [String: StoredValue] = [:]
        for key in keys { values[key] = try valueToReplace(forKey: key) }
        return values
    }

    /// - Throws: `PrefsError.coveredByLayer`.
    func checkCovers(_ change: RootChange) throws(PrefsError) {
        let covered = (Array(change.assigned.keys) + change.removed).compactMap { key in
            around(key)?.cover.map { PrefsProblem(covered: key, by: $0.layer, place: $0.place) }
        }
        if !covered.isEmpty { throw .coveredByLayer(covered.sorted(byText: \.topLevelKey)) }
    }
}

extension Root {
    // MARK: - Commit

    /// Changes the root in a new transaction, or as a part of the thread's transaction. A write that is equal to a state that
    /// is as durable as it has to be changes nothing.
    @inline(never) func commit(_ write: RootWrite, _ outcome: inout AccessOutcome) throws {
        try commit(write, after: comparison(of: write, &outcome), &outcome)
    }

    private func commit(
        _ write: RootWrite, after former: RootWrite.Comparison, _ outcome: inout AccessOutcome
    ) throws {
        if case .state(nil, let durability) = former, durability >= roots.durability { return }
        outcome.hasReachedDomain = true
        try roots.requiredDomain().change(key, durability: roots.durability) {
            try apply(write, after: former, in: $0)
        }
        outcome.recordSuccess(roots.takeWarning())
    }

    /// Commits a difference to a state that was read before, with that durability. Checks the difference first.
    func commit(
        _ difference: RootChange, over durability: CommitDurability, _ outcome: inout AccessOutcome
    ) throws {
        let write = RootWrite.keys(difference)
        // The covers are checked again in the transaction, with the layers of that time.
        let view = RootView(of: key, instance, nil, in: roots.currentLayers(), form: roots.form)
        let checked = difference.isEmpty ? nil : try write.difference(in: view, after: .nothing, &outcome)
        try commit(write, after: .state(checked, durability), &outcome)
    }

    /// Compares a write with the current state. With a remote root as this process knows it, if that saves a request: the
    /// store applies the write to the newest state.
    private func comparison(of write: RootWrite, _ outcome: inout AccessOutcome) throws -> RootWrite.Comparison {
        if roots.layers == nil, !instance.hasFormerRoots, let known = roots.domain?.knownEntry(of: key) {
            var ignored = AccessOutcome()
            let view = RootView(of: key, instance, known, in: nil)
            if let difference = try? write.difference(in: view, after: .nothing, &ignored) {
                return .known(difference)
            }
        }
        let view = try view(of: write.onlyKey, isForWriting: true, &outcome)
        return .state(try write.difference(in: view, after: .nothing, &outcome), view.durability)
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
            try roots.transact(on: key) { try apply(.keys(checked), after: .known(checked), in: $0) }
        }
        outcome.recordSuccess(roots.takeWarning())
    }

    private func apply(_ write: RootWrite, after former: RootWrite.Comparison, in transaction: Transaction) throws {
        // Before the code of the class runs, which may write to the root.
        var before = roots.layout.entry(of: key, in: transaction.content)
        guard let effect = try effect(of: write, after: former, in: transaction) else { return }
        if !instance.declarations.rules.isEmpty { try judge(afterwards: transaction) }
        switch effect {
        case .change(let change):
            // A dictionary with two owners is copied when it changes.
            before = nil
            try transaction.apply(change, to: key, roots.layout)
        case .replace(let values, let formerKeys, let mismigration):
            transaction.reasonToKeepFormer = mismigration ?? transaction.reasonToKeepFormer
            for formerKey in formerKeys { try roots.transact(on: formerKey) { $0.replace(formerKey, with: nil) } }
            try transaction.replace(root: key, roots.layout, before, with: values)
        }
    }

    // MARK: - The effect

    /// What a write does to the root in a transaction; nil if it changes nothing. May read former roots, and runs the code
    /// of migrations, codings and `allowedKeys`.
    private func effect(
        of write: RootWrite, after former: RootWrite.Comparison, in transaction: Transaction
    ) throws -> RootWrite.Effect? {
        let view = try view(in: transaction)
        var ignored = AccessOutcome()
        guard let difference = try write.difference(in: view, after: former, &ignored) else { return nil }
        switch write {
        case .keys, .object, .property, .removal: return try changing(difference, in: view)
        case .assign(_, let isMerging, _):
            // An entry that is no dictionary is replaced by an empty root.
            if difference.isEmpty { return .replace(schema.withVersion([:]), moved: []) }
            return try changing(difference, in: isMerging ? view : view.replaceable)
        case .clear: return try clearing(difference, in: view)
        case .remove(let allowed): return try removing(allowed, in: view)
        }
    }

    private func changing(_ difference: RootChange, in view: RootView) throws -> RootWrite.Effect? {
        if schema.isTrivial, view.formerKey == nil {
            // An update may have thousands of writes, so none of them looks at the keys of the others.
            return .change(try view.written(difference))
        }
        var values = try view.storedValues()
        let migrated = schema.migrated(try view.dictionary(), to: values)
        // The values that the difference was made from.
        if view.layers != nil {
            for key in difference.assigned.keys { values?[key] = try view.valueToReplace(forKey: key) }
        }
        // An unchanged root keeps its old shape, too.
        guard try schema.droppingFormerKeys(difference, of: values).apply(to: &values), let values else { return nil }
        return .replace(
            schema.withVersion(try view.written(values, after: difference)), moved: view.formerKey.map { [$0] } ?? [],
            mismigration: mismigration(migrated))
    }

    /// What does not fit among the values that migrations have made, as a clause; nil if all fit.
    private func mismigration(_ migrated: [String: StoredValue]) -> String? {
        if migrated.isEmpty { return nil }
        do throws(PrefsError) {
            try instance.declarations.check(migrated)
            return nil
        } catch {
            let failures = error.failures.map(\.description)
            return "the migration of the root \"\(ShownText.key(key))\" to version \(schema.newest) "
                + "gave values that do not fit: \(failures.first ?? "")"
                + (failures.count > 1 ? " and \(failures.count - 1) more" : "")
        }
    }

    private func clearing(_ difference: RootChange, in view: RootView) throws -> RootWrite.Effect {
        var rest = try view.storedValues()
        try schema.droppingFormerKeys(difference, of: rest).apply(to: &rest)
        // An empty root hides the other former roots.
        let isHiding = try otherFormerRoots(than: view).isEmpty == false
        let isNeeded = rest?.isEmpty == false || isHiding || roots.layout == .flat
        return .replace(
            isNeeded ? try rest.map { try view.written($0) }.map(schema.withVersion) : nil,
            moved: view.formerKey.map { [$0] } ?? [])
    }

    private func removing(_ allowed: AllowedKeys, in view: RootView) throws -> RootWrite.Effect {
        guard roots.layout == .flat else {
            return .replace(
                nil, moved: (view.formerKey.map { [$0] } ?? []) + (try otherFormerRoots(than: view)))
        }
        let own = schema.ownKeys
        return .replace(
            try view.dictionary()?.filter { !allowed.contains($0.key) && !own.contains($0.key) }, moved: [])
    }

    /// The former root keys that have a root, except for the key of a state.
    private func otherFormerRoots(than view: RootView) throws -> [String] {
        if roots.layout == .flat { return [] }
        return try instance.declarations.formerRoots(of: key).filter {
            try $0 != view.formerKey && values(ofFormer: $0) != nil
        }
    }
}
