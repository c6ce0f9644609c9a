import PrefsPropertyLists

/// A write to one root, as data. The effect of most cases depends on the state that they are applied to.
enum Change {
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

/// The effect of a change on a root.
struct ChangeEffect {
    /// The change of a root that otherwise stays as it is, in the form in which the values are stored; nil if the root
    /// is replaced.
    var difference: RootChange?
    /// The values that replace the root, in the current shape; nil if the root is removed.
    var values: [String: StoredValue]?
    /// The former root keys whose entries go with the change.
    var movedRoots: [String] = []
    /// Whether a faulty migration step may have lost values, so that the stored state is kept in quarantine.
    var replacesMismigrated = false
}

extension RootView {
    /// The difference that a change would make in this state; nil if it would change nothing. Throws every rejection
    /// that is possible before the domain is locked.
    func difference(by change: Change, _ outcome: inout AccessOutcome) throws -> RootChange? {
        let difference: RootChange
        switch change {
        case .keys(let own): difference = own
        case .property(let key, let value, let property):
            difference = try .init(of: key, from: valueToReplace(forKey: key), to: value, property, in: self)
        case .assign(let values, let isMerging, let allowed):
            let view = isMerging ? self : replaceable
            difference = try .init(values, merging: isMerging, allowed, over: view.values(&outcome), root.state)
            if difference.isEmpty, view.entry == nil, entry != nil { return difference }
        case .clear(let allowed):
            let stored = try storedValues()
            guard let stored else { return nil }
            let own = stored.filter { allowed.contains($0.key) }
            return own.isEmpty && !stored.isEmpty ? nil : RootChange(from: own, to: [:])
        case .remove:
            // Also removes an entry that is not a dictionary.
            if let failure { throw failure }
            return entry == nil ? nil : .nothing
        }
        if difference.isEmpty { return nil }
        if case .property = change {} else { try root.state.declarations.check(difference, as: form) }
        try checkCovers(difference)
        return difference
    }

    /// The effect of a change on this state; nil if it changes nothing. Called in the transaction. May read former
    /// roots there, and runs the code of migrations, codings and `keys`.
    ///
    /// - Parameter before: the difference in the state before the domain was locked.
    func applying(_ change: Change, _ before: RootChange) throws -> ChangeEffect? {
        switch change {
        case .keys(let own): return try applying(own)
        case .property(let key, let value, let property):
            // Another process may have stored or removed unknown fields in the meantime.
            let now = try valueToReplace(forKey: key)
            if before.isMade(of: now, forKey: key) { return try applying(before) }
            return try applying(.init(of: key, from: now, to: value, property, in: self))
        case .assign(let values, let isMerging, let allowed):
            // Also replaces values that others have written in between.
            let view = isMerging ? self : replaceable
            let difference = try RootChange(values, merging: isMerging, allowed, over: view.values(), root.state)
            try root.state.declarations.check(difference, as: form)
            let effect = try view.applying(difference)
            // No values replace an entry that is no dictionary, too.
            let isEmptied = effect == nil && view.entry == nil && entry != nil
            return isEmptied ? ChangeEffect(values: root.schema.withVersion([:])) : effect
        case .clear(let allowed): return try clearing(allowed)
        case .remove(let allowed): return try removing(allowed)
        }
    }

    private func applying(_ difference: RootChange) throws -> ChangeEffect? {
        let schema = root.schema
        if schema.isTrivial, formerKey == nil {
            try checkCovers(difference)
            // An update may have thousands of writes, so none of them looks at the keys of the others.
            let written = try written(difference)
            return written.isEmpty ? nil : ChangeEffect(difference: written)
        }
        var values = try storedValues()
        let migrated = schema.migrated(try dictionary(), to: values)
        try checkCovers(difference)
        // An unchanged root keeps its old shape, too.
        guard try schema.droppingFormerKeys(difference, of: values).apply(to: &values), let values else { return nil }
        return ChangeEffect(
            values: schema.withVersion(try written(values)), movedRoots: formerKey.map { [$0] } ?? [],
            replacesMismigrated: !migrated.isEmpty && (try? root.state.declarations.check(migrated)) == nil)
    }

    private func clearing(_ allowed: AllowedKeys) throws -> ChangeEffect? {
        let schema = root.schema
        guard let current = try storedValues() else { return nil }
        var rest: [String: StoredValue]? = current
        let change = RootChange(from: current.filter { allowed.contains($0.key) }, to: [:])
        try schema.droppingFormerKeys(change, of: current).apply(to: &rest)
        // An empty root hides the other former roots.
        let isHiding = try otherFormerRoots().isEmpty == false
        let isNeeded = rest?.isEmpty == false || isHiding || root.roots.layout == .flat
        return ChangeEffect(
            values: isNeeded ? try rest.map(written).map(schema.withVersion) : nil,
            movedRoots: formerKey.map { [$0] } ?? [])
    }

    private func removing(_ allowed: AllowedKeys) throws -> ChangeEffect? {
        guard root.roots.layout == .flat else {
            return ChangeEffect(movedRoots: (formerKey.map { [$0] } ?? []) + (try otherFormerRoots()))
        }
        let own = root.schema.ownKeys
        return ChangeEffect(values: try dictionary()?.filter { !allowed.contains($0.key) && !own.contains($0.key) })
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
        let before = state.shown(stored, allowed)
        try self.init(
            from: before.values, shownAs: before.objects, to: merging ? before.objects.merging(values) { $1 } : values,
            allowed: allowed)
    }
}
