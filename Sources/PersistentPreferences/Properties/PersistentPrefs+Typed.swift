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
        // The closure does not depend on the type of the value.
        let finding: Finding? = read { access in
            let reading = try access.look()
            if let cached, cached.isCurrent(in: reading.revision, root: access.root) { return .same }
            return .found(try access.object(forKey: key, in: reading))
        }
        do throws(PrefsError) {
            switch finding {
            case nil: break
            case .same: if let kept { return try property.value(of: kept, binding) }
            case .found(let found): return try property.value(of: found, binding, kept, in: state)
            }
            return property.defaultValue(binding)
        } catch {
            if PastState.current(of: state) == nil { report(error) }
            return property.defaultValue(binding)
        }
    }

    /// The outcome of a read of a property.
    private enum Finding {
        /// The object of the last read.
        case same
        case found(StoredObject)
    }

    @discardableResult
    func set<Value>(
        _ value: Value, of property: PrefProperty<Value>, _ binding: PrefProperty<Value>.Binding
    ) -> PrefsError? {
        write { try assign(value, to: property, binding, in: &$0) }
    }

    // MARK: - Changes in place

    func changeInPlace<Value>(of property: PrefProperty<Value>) -> InPlaceChange<RootOrigin, Value> {
        changeInPlace(from: property.defaultValue(in: state)) { access in
            let (binding, kept) = property.bound(in: state)
            let found = try access.object(forKey: binding.key, in: access.look())
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
        write { try assign(nil, to: property.binding(in: state).key, in: &$0) { _, _ in nil } }
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
            let found = try $0.object(forKey: binding.key, in: $0.look())
            guard found.object != nil else { return true }
            let value = try property.value(of: found, binding, kept, in: state)
            let coding = binding.coding
            // As objects: values need not be comparable.
            switch (try coding.encode(value), try coding.encode(property.defaultValue(binding))) {
            case (nil, nil): return true
            case (let value?, let defaultValue?):
                // Neither value has been vetted: they may contain native numbers.
                guard case .success(let value) = PropertyListVetter.canonical(value, forKey: ""),
                    case .success(let defaultValue) = PropertyListVetter.canonical(defaultValue, forKey: "")
                else { return false }
                return CanonicalValue.areEqual(value, defaultValue)
            default: return false
            }
        } ?? true
    }

    private func assign<Value>(
        _ value: Value, to property: PrefProperty<Value>, _ binding: PrefProperty<Value>.Binding,
        in access: inout PrefsAccess
    ) throws {
        let object = try property.object(for: value, binding)
        try assign(object, to: binding.key, in: &access) { property.withUnknownFields($0, of: $1, binding) }
    }

    /// - Parameter withUnknownFields: returns a new object with the fields of a stored one that its type does not know; nil if there are
    ///   none.
    private func assign(
        _ object: Any?, to key: String, in access: inout PrefsAccess,
        _ withUnknownFields: (_ new: Any, _ stored: Any) -> Any?
    ) throws {
        func change(of stored: Any?) throws(PrefsError) -> RootChange {
            let before = stored.map { [key: $0] } ?? [:]
            guard let object else { return try RootChange(from: before, to: [:]) }
            return try RootChange(from: before, to: [key: stored.flatMap { withUnknownFields(object, $0) } ?? object])
        }
        let reading = try access.look()
        let stored = try access.valueToReplace(forKey: key, in: reading)
        let isCovered = access.isCovered(key, in: reading)
        try access.commit(change(of: stored), isChecked: true) { current in
            if isCovered { return nil }
            // Another process may have stored other unknown fields meanwhile, or removed them.
            let now = current?[key]
            let isSame =
                if let stored, let now { CanonicalValue.areIdentical(stored, now) } else { stored == nil && now == nil }
            if isSame { return nil }
            return try change(of: now)
        }
    }
}

extension PrefsAccess {
    fileprivate mutating func object(forKey key: String, in reading: RootSnapshot) throws(PrefsError) -> StoredObject {
        let object = try value(forKey: key, in: reading)
        let isKept = !hasPassedOverBase && !isFaulty(key, in: reading)
        return StoredObject(object: object, revision: isKept ? reading.revision : nil, root: root)
    }
}
