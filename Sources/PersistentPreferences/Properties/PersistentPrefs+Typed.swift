import Foundation
import PrefsPropertyLists

/// The accesses of declared properties and their handles to the root.
extension PersistentPrefs {
    package class func knownDeclarations(_ caller: String) -> ClassDeclarations {
        guard let declarations = ClassDeclarations.known(self) else {
            fatalError("\(self).\(caller): the properties are unknown; create an instance first, with any store")
        }
        return declarations
    }

    /// The source of each declared property's value, nil if the root cannot be read, and whether a layer of secrets has
    /// the key; in the order of the declarations. Costs a read. Does not change ``lastError``.
    package func sourcesOfDeclared() -> [(source: PrefSource?, isSecret: Bool)] {
        var outcome = AccessOutcome()
        let view = try? Root(key, of: state).view(&outcome)
        return declarations.declarations.map { declaration in
            (
                try? view?.source(ofKey: declaration.key, &outcome),
                view?.layers?.isSensitive(declaration.key, of: key, in: declarations) == true
            )
        }
    }

    func value<Value>(of property: PrefProperty<Value>, _ bound: PrefProperty<Value>.Bound) -> Value {
        if let last = bound.lastRead, isCurrent(last, hasNews: bound.hasNews) { return last.value }
        return freshRead(of: property, bound)
    }

    /// Whether a read would return the value of the last one. If so, this is the read.
    ///
    /// - Parameter hasNews: whether the instance must be told of a read that succeeds.
    func isCurrent(_ last: CachedValue, hasNews: Bool) -> Bool {
        let isTracked = state.bridge.access(last.key, of: self)
        let root = key
        guard last.isCurrent(in: ReadContext.revision(of: root, for: state, in: state.roots), root: root),
            !last.isChecked || last.isValid
        else { return false }
        if hasNews || isTracked { report(nil, of: .read(of: last.key)) }
        return true
    }

    /// The value of a property whose last read is not the current one.
    func freshRead<Value>(of property: PrefProperty<Value>, _ bound: PrefProperty<Value>.Bound) -> Value {
        let (binding, lastRead, _) = bound
        let (key, cached) = (binding.key, lastRead as CachedValue?)
        state.bridge.access(key, of: self)
        let root = self.key
        // The closure does not depend on the type of the value.
        let finding: Finding? = read(root, of: key) { view, outcome in
            if let cached, cached.isCurrent(in: view.revision, root: root) { return .same }
            return .found(try view.lookUp(forKey: key, &outcome))
        }
        var revision = lastRead?.revision
        do throws(PrefsError) {
            switch finding {
            case nil: break
            case .same: if let lastRead { return try property.value(of: lastRead, binding) }
            case .found(let found):
                revision = found.revision
                let value = try property.value(of: found, binding, lastRead, in: state)
                state.endFault(ofValue: key, at: revision)
                return value
            }
            return property.givenDefault
        } catch {
            if PreviousStateRead.current(of: state) == nil { report(error, of: .read(of: key, at: revision)) }
            return property.givenDefault
        }
    }

    /// The outcome of the read of a property.
    private enum Finding {
        /// The value of the last read.
        case same
        case found(ReadResult)
    }

    // MARK: - Changes in place

    func changeInPlace<Value>(of property: PrefProperty<Value>) -> InPlaceChange<Value> {
        let (binding, lastRead, _) = property.bound(in: state)
        return changeInPlace(from: property.givenDefault, of: binding.key) { view, outcome in
            let found = try view.lookUp(forKey: binding.key, &outcome)
            return try property.value(of: found, binding, lastRead, in: state)
        }
    }

    func commit<Value>(_ change: InPlaceChange<Value>, of property: PrefProperty<Value>) {
        commit(change) { value, root, outcome in
            let binding = property.binding(in: state)
            try root.commit(property.write(value, binding), &outcome)
        }
    }

    // MARK: - Handles

    func removeValue(of property: PrefProperty<some Any>) -> PrefsError? {
        let key = property.binding(in: state).key
        return write { try $0.commit(.property(key: key, nil, property), &$1) }
    }

    /// Assigns nil to an optional property whose default is another value. Other keys are removed.
    package func assignNil(forKey key: String) -> PrefsError? {
        guard let property = declarations[key]?.property else { return reset(key) }
        return write { try $0.commit(.property(key: key, .null, property), &$1) }
    }

    func isStored(_ property: PrefProperty<some Any>) -> Bool {
        let key = property.binding(in: state).key
        state.bridge.access(key, of: self)
        return read(of: key) { view, _ in try view.storedValue(forKey: key) != nil } ?? false
    }

    /// Where the value of a key comes from: a layer of a layered store, the store or, for a declared property, its
    /// default. A stored value that does not fit its property is not the source.
    ///
    /// A field of a property with the option `merged` is named as in `listen.port`. Another key that ``allowedKeys`` does not
    /// contain is an error, as for a read. Costs a read. Any thread.
    public func source(ofKey key: String) -> PrefSource {
        if let (section, field) = sectionField(named: key) {
            state.bridge.access(section, of: self)
            return read(of: section) { view, _ in try view.source(ofKey: section, field: field) } ?? .default
        }
        state.bridge.access(key, of: self)
        return read(of: key, onlyIfAllowed: true) { try $0.source(ofKey: key, &$1) } ?? .default
    }

    /// The key and the path of a field of a merged property; nil if the name is a key, or no field.
    private func sectionField(named name: String) -> (key: String, field: [String])? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 1 || allowed.contains(name) { return nil }
        return (1..<parts.count).lazy.map { (parts[..<$0].joined(separator: "."), Array(parts[$0...])) }
            .first { key, _ in self.declarations[key]?.property.isMerged == true }
    }

    func isDefault<Value>(_ property: PrefProperty<Value>) -> Bool {
        state.bridge.access(property.binding(in: state).key, of: self)
        let (binding, lastRead, _) = property.bound(in: state)
        return read(of: binding.key) {
            let found = try $0.lookUp(forKey: binding.key, &$1)
            guard found.value != nil else { return true }
            let value = try property.value(of: found, binding, lastRead, in: state)
            // Compares the stored forms, because values need not be comparable.
            return try binding.coding.encode(value) == binding.coding.encode(property.givenDefault)
        } ?? true
    }
}
