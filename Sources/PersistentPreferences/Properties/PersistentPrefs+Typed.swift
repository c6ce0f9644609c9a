public import Foundation
import PrefsPropertyLists

/// Declared properties: what `@Pref` and its handles do with the root.
extension PersistentPrefs {
    /// The properties of the class in the order of their declaration, those of base classes first.
    ///
    /// The first instance of the class finds them. If no instance has been created in this process, the call stops the program
    /// with a message that says so. Costs time linear in their number. Any thread.
    public class func describe() -> [PrefDescription] {
        knownDeclarations("describe()").declarations.map(PrefDescription.init)
    }

    class func schemaOfDeclarations() -> Data {
        knownDeclarations("jsonSchema()").schema(title: String(describing: self))
    }

    /// Returns the same as the method of the class, which knows the ``keys`` of this instance then.
    public func jsonSchema() -> Data {
        declarations.record(allowedKeys.list)
        return type(of: self).jsonSchema()
    }

    private class func knownDeclarations(_ caller: String) -> ClassDeclarations {
        guard let declarations = ClassDeclarations.known(self) else {
            fatalError("\(self).\(caller): the properties are unknown; create an instance first, with any store")
        }
        return declarations
    }

    /// The properties of this instance's class, with the sources of their values. Costs a read. Leaves ``lastError`` alone.
    public func describe() -> [PrefDescription] {
        var access = try? access(root: key)
        let reading = try? access?.look()
        return declarations.declarations.map { declaration in
            var description = PrefDescription(declaration)
            if let reading { description.source = try? access?.source(ofKey: declaration.key, in: reading) }
            return description
        }
    }

    func value<Value>(of property: PrefProperty<Value>, _ bound: PrefProperty<Value>.Bound) -> Value {
        let (binding, kept) = bound
        let (key, cached) = (binding.key, kept as CachedValue?)
        state.bridge.access(key, of: self)
        if let kept, isCurrent(kept), property.accepts(kept) {
            report(nil)
            return kept.value
        }
        // The closure does not depend on the type of the value.
        let finding: Finding? = read { access in
            let reading = try access.look()
            if let cached, cached.isCurrent(in: reading.revision, root: access.root) { return .same }
            return .found(try access.found(forKey: key, in: reading))
        }
        do throws(PrefsError) {
            switch finding {
            case nil: break
            case .same: if let kept { return try property.value(of: kept, binding) }
            case .found(let found): return try property.value(of: found, binding, kept, in: state)
            }
            return property.givenDefault
        } catch {
            if PastState.current(of: state) == nil { report(error) }
            return property.givenDefault
        }
    }

    /// Whether a read would find what the last one has found, and report nothing. Saves the transfer of a snapshot.
    private func isCurrent(_ cached: CachedValue) -> Bool {
        let root = key
        return PastState.current(of: state) == nil
            && cached.isCurrent(in: state.store.knownRevision(of: root), root: root)
    }

    /// The outcome of a read of a property.
    private enum Finding {
        /// What the last read has found.
        case same
        case found(FoundValue)
    }

    @discardableResult
    func set<Value>(
        _ value: Value, of property: PrefProperty<Value>, _ binding: PrefProperty<Value>.Binding
    ) -> PrefsError? {
        write { try assign(value, to: property, binding, in: &$0) }
    }

    // MARK: - Changes in place

    func changeInPlace<Value>(of property: PrefProperty<Value>) -> InPlaceChange<RootOrigin, Value> {
        changeInPlace(from: property.givenDefault) { access in
            let (binding, kept) = property.bound(in: state)
            let found = try access.found(forKey: binding.key, in: access.look())
            return try property.value(of: found, binding, kept, in: state)
        }
    }

    func commit<Value>(_ change: InPlaceChange<RootOrigin, Value>, of property: PrefProperty<Value>) {
        commit(change) { value, access in
            try assign(value, to: property, property.binding(in: state), in: &access)
        }
    }

    // MARK: - Handles

    func remove(_ property: PrefProperty<some Any>) -> PrefsError? {
        write { try assign(nil, to: property.binding(in: state).key, in: &$0) { new, _ in new } }
    }

    func isSet(_ property: PrefProperty<some Any>) -> Bool {
        state.bridge.access(property.binding(in: state).key, of: self)
        let key = property.binding(in: state).key
        return read { try $0.storedValue(forKey: key, in: $0.look()) != nil } ?? false
    }

    /// Where the value of a key comes from: a layer of a ``LayeredStore``, the store or, for a declared property, its default. A stored
    /// value that does not fit its property does not count.
    ///
    /// A key that ``keys`` does not contain is an error, as for a read. Costs a read. Any thread.
    public func source(ofKey key: String) -> PrefSource {
        state.bridge.access(key, of: self)
        return read {
            guard allowedKeys.contains(key) else { throw PrefsError.incorrectKeys(invalidElements: [key]) }
            return try $0.source(ofKey: key, in: $0.look())
        } ?? .default
    }

    func isDefault<Value>(_ property: PrefProperty<Value>) -> Bool {
        state.bridge.access(property.binding(in: state).key, of: self)
        return read {
            let (binding, kept) = property.bound(in: state)
            let found = try $0.found(forKey: binding.key, in: $0.look())
            guard found.value != nil else { return true }
            let value = try property.value(of: found, binding, kept, in: state)
            // As they are stored: values need not be comparable.
            return try binding.coding.encode(value) == binding.coding.encode(property.givenDefault)
        } ?? true
    }

    private func assign<Value>(
        _ value: Value, to property: PrefProperty<Value>, _ binding: PrefProperty<Value>.Binding,
        in access: inout PrefsAccess
    ) throws {
        let new = try property.stored(for: value, binding)
        try assign(new, to: binding.key, in: &access) { property.withUnknownFields($0, of: $1, binding) }
    }

    /// - Parameter withUnknownFields: returns the new value with the fields of the stored one that its type does not know.
    private func assign(
        _ new: StoredValue?, to key: String, in access: inout PrefsAccess,
        _ withUnknownFields: (_ new: StoredValue, _ stored: StoredValue) -> StoredValue
    ) throws {
        func change(of stored: StoredValue?) throws(PrefsError) -> RootChange {
            let before = stored.map { [key: $0] } ?? [:]
            guard let new else { return RootChange(from: before, to: [:]) }
            return try RootChange(from: before, to: [key: stored.map { withUnknownFields(new, $0) } ?? new]).checked()
        }
        let reading = try access.look()
        let stored = try access.valueToReplace(forKey: key, in: reading)
        let isCovered = access.isCovered(key, in: reading)
        try access.commit(change(of: stored), isChecked: true) { current in
            if isCovered { return nil }
            // Another process may have stored other unknown fields meanwhile, or removed them.
            let now = current?[key]
            let isSame = if let stored, let now { stored.isIdentical(to: now) } else { stored == nil && now == nil }
            if isSame { return nil }
            return try change(of: now)
        }
    }
}

extension PrefsAccess {
    fileprivate mutating func found(forKey key: String, in reading: RootSnapshot) throws(PrefsError) -> FoundValue {
        let value = try value(forKey: key, in: reading)
        let isKept = !hasPassedOverBase && !isFaulty(key, in: reading)
        return FoundValue(value: value, revision: isKept ? reading.revision : nil, root: root)
    }
}
