import PrefsFileEngine
import PrefsPropertyLists

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
                    _ = try instance.declarations.checked(unchecked, as: form)
                }
            } else {
                difference = try instance.declarations.checked(own, as: form)
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
            difference = try .init(values, merging: isMerging, allowed, over: view.values(&outcome), instance)
            // No values replace an entry that is no dictionary, too.
            if difference.isEmpty, view.entry == nil, entry != nil { return difference }
            _ = try instance.declarations.checked(difference, as: form)
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

    /// What a difference does to the root in this state, in which it was found.
    func effect(of difference: RootChange) throws -> RootEffect? {
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
            try instance.declarations.check(migrated)
            return nil
        } catch {
            let failures = error.failures.map(\.description)
            return "the migration of the root \"\(ShownText.key(rootKey))\" to version \(schema.newest) "
                + "gave values that do not fit: \(failures.first ?? "")"
                + (failures.count > 1 ? " and \(failures.count - 1) more" : "")
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
            stored.map { property.withUnknownFields(value, of: $0, as: view.form) } ?? value
        }
        self = try RootChange(of: key, from: stored, to: whole).checked()
    }

    fileprivate init(
        _ values: [String: Any], merging: Bool, _ allowed: AllowedKeys, over stored: [String: StoredValue]?,
        _ instance: RootInstance
    ) throws(PrefsError) {
        let before = instance.visibleValues(stored, allowed)
        try self.init(
            from: before.values, shownAs: before.objects, to: merging ? before.objects.merging(values) { $1 } : values,
            allowed: allowed)
    }
}
