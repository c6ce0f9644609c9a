/// Declared properties: what `@Pref` and its handles do with the root.
extension PersistentPrefs {
    /// The declared properties of the class, those of its base classes first, in the order of their declaration.
    ///
    /// They are found by the first instance: before one has been made in this process, the call stops the program with a
    /// message that says so. Cost: linear in their number. Any thread.
    public class func describe() -> [PrefDescription] {
        guard let declarations = ClassDeclarations.known(self) else {
            fatalError("\(self).describe(): the properties are known once an instance has been made, of any store")
        }
        return declarations.declarations.map(PrefDescription.init)
    }

    /// The same of this instance's class.
    public func describe() -> [PrefDescription] {
        declarations.declarations.map(PrefDescription.init)
    }

    func value<Value>(of property: PrefProperty<Value>) -> Value {
        state.announcer.access(property.binding(in: state).key, of: self)
        let value: Value? =
            read {
                try object(of: property, in: &$0).map { object in try property.value(of: object, in: state) }
            } ?? nil
        return value ?? property.defaultValue
    }

    @discardableResult
    func set<Value>(_ value: Value, of property: PrefProperty<Value>) -> PrefsError? {
        write {
            let binding = property.binding(in: state)
            let object = try property.object(for: value, key: binding.key)
            try assign(object, to: binding.key, in: &$0)
        }
    }

    // MARK: - Changes in place

    /// A value on its way through a change in place: what it starts from, and what the read of it met.
    struct Change<Value> {
        fileprivate let root: String
        var value: Value
        fileprivate var notice: PrefsError?
        fileprivate var failure: PrefsError?
    }

    func changeInPlace<Value>(of property: PrefProperty<Value>) -> Change<Value> {
        var change = Change(root: key, value: property.defaultValue)
        do {
            var access = try access(root: change.root)
            defer { change.notice = access.notice }
            if let object = try object(of: property, in: &access) {
                change.value = try property.value(of: object, in: state)
            }
        } catch {
            change.failure = PrefsError(error)
        }
        return change
    }

    func commit<Value>(_ change: Change<Value>, of property: PrefProperty<Value>) {
        write(to: change.root) {
            $0.notice = change.notice
            // What could not be read must not be replaced by what was made of the default.
            if let failure = change.failure { throw failure }
            let key = property.binding(in: state).key
            try assign(try property.object(for: change.value, key: key), to: key, in: &$0)
        }
    }

    // MARK: - Handles

    func remove(_ property: PrefProperty<some Any>) -> PrefsError? {
        write { try assign(nil, to: property.binding(in: state).key, in: &$0) }
    }

    func isSet(_ property: PrefProperty<some Any>) -> Bool {
        state.announcer.access(property.binding(in: state).key, of: self)
        return read { try object(of: property, in: &$0) != nil } ?? false
    }

    func isDefault<Value>(_ property: PrefProperty<Value>) -> Bool {
        state.announcer.access(property.binding(in: state).key, of: self)
        return read {
            guard let object = try object(of: property, in: &$0) else { return true }
            let value = try property.value(of: object, in: state)
            let coding = property.binding(in: state).coding
            // As objects: values need not be comparable.
            switch (try coding.encode(value), try coding.encode(property.defaultValue)) {
            case (nil, nil): return true
            case (let value?, let defaultValue?):
                // Neither has been vetted: there may be native numbers in them.
                guard case .success(let value) = PropertyListVetter.canonical(value, forKey: ""),
                    case .success(let defaultValue) = PropertyListVetter.canonical(defaultValue, forKey: "")
                else { return false }
                return CanonicalValue.areEqual(value, defaultValue)
            default: return false
            }
        } ?? true
    }

    private func object(of property: PrefProperty<some Any>, in access: inout PrefsAccess) throws -> Any? {
        try access.values()?[property.binding(in: state).key]
    }

    private func assign(_ object: Any?, to key: String, in access: inout PrefsAccess) throws {
        let before = try access.values()?[key].map { [key: $0] } ?? [:]
        try access.commit(RootChange(from: before, to: object.map { [key: $0] } ?? [:]), isChecked: true)
    }
}
