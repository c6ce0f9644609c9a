/// What one `@Pref` says, and what has been found out about it for the instance that it belongs to.
final class PrefProperty<Value>: DeclaredProperty, @unchecked Sendable {
    let explicitKey: String?
    let formerKeys: [String]
    let defaultValue: Value
    let constraint: PrefConstraint<Value>?
    private let givenCoding: PrefCoding<Value>?

    // Guarded by the lock of the instance's state.
    private var binding: Binding?
    private var kept: Kept?

    /// The property in its class. This and the next are objects for the sake of reads: to hand on a struct of the type of the
    /// values costs more than the read itself.
    final class Binding {
        let key: String
        let coding: PrefCoding<Value>

        init(key: String, coding: PrefCoding<Value>) {
            self.key = key
            self.coding = coding
        }
    }

    /// What a read has found, and the value that was made of it; of no object the default.
    final class Kept: KeptReading {
        let value: Value

        init(_ found: FoundObject, _ value: Value) {
            self.value = value
            super.init(found)
        }
    }

    init(
        _ defaultValue: Value, key: String?, previously formerKeys: [String], constraint: PrefConstraint<Value>?,
        coding: PrefCoding<Value>?
    ) {
        self.defaultValue = defaultValue
        explicitKey = key
        self.formerKeys = formerKeys
        self.constraint = constraint
        givenCoding = coding
    }

    /// The property in its class; found out at the first call, which comes before any other.
    ///
    /// - Parameter storage: where the instance has its wrapper.
    func bind(to prefs: PersistentPrefs, at storage: AnyKeyPath) {
        if prefs.state.withLock({ binding != nil }) { return }
        let new = Binding(key: prefs.declarations.key(of: self, in: prefs, at: storage), coding: coding)
        prefs.state.withLock { binding = new }
    }

    func binding(in state: InstanceState) -> Binding {
        bindingAndKept(in: state).binding
    }

    /// What the last read has kept, too.
    func bindingAndKept(in state: InstanceState) -> (binding: Binding, kept: Kept?) {
        state.withLock {
            guard let binding else { preconditionFailure("a property without its class") }
            return (binding, kept)
        }
    }

    // MARK: - Values

    /// The value that was found; the default where there is no object. An object that is the same as at the last call is not
    /// decoded again.
    ///
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated`.
    func value(
        of found: FoundObject, _ binding: Binding, _ kept: Kept?, in state: InstanceState
    ) throws(PrefsError) -> Value {
        guard let object = found.object else {
            keep(found, defaultValue, binding, in: state)
            return defaultValue
        }
        let value: Value
        if binding.coding.reuse.isWorthwhile, let kept, kept.isOf(object) {
            value = kept.value
        } else {
            value = try binding.coding.value(of: object, forKey: binding.key)
        }
        keep(found, value, binding, in: state)
        return try checked(value, binding)
    }

    /// The value that was kept, in a state that is still the same.
    ///
    /// - Throws: `PrefsError.constraintViolated`.
    func value(of kept: Kept, _ binding: Binding) throws(PrefsError) -> Value {
        kept.isOfNothing ? kept.value : try checked(kept.value, binding)
    }

    /// The same of an object from elsewhere, made anew and not kept.
    func freshValue(of object: Any, in state: InstanceState) throws(PrefsError) -> Value {
        let binding = binding(in: state)
        return try checked(binding.coding.value(of: object, forKey: binding.key), binding)
    }

    private func checked(_ value: Value, _ binding: Binding) throws(PrefsError) -> Value {
        if let constraint, let reason = constraint.violation(value) {
            throw .constraintViolated([.init(path: binding.key, topLevelKey: binding.key, reason: reason)])
        }
        return value
    }

    private func keep(_ found: FoundObject, _ value: Value, _ binding: Binding, in state: InstanceState) {
        let reuse = binding.coding.reuse
        // Asked after decoding, which may have found out.
        guard reuse.isAllowed, found.revision != nil || reuse.isWorthwhile else { return }
        // What was kept is released outside the lock: somebody's deinit may come back here.
        let new = Kept(found, value)
        let old = state.withLock {
            defer { kept = new }
            return kept
        }
        withExtendedLifetime(old) {}
    }

    /// The object to store for a value; nil where the key is to be removed.
    ///
    /// - Throws: `PrefsError.constraintViolated`, `.valuesNotPlistCompatible`.
    func object(for value: Value, key: String) throws(PrefsError) -> Any? {
        if let reason = constraint?.violation(value) {
            throw .constraintViolated([.init(path: key, topLevelKey: key, reason: reason)])
        }
        return try coding.object(for: value, forKey: key)
    }

    // MARK: - For the class

    private var coding: PrefCoding<Value> { givenCoding ?? PrefCoding(rule: Value.self) }

    var valueType: Any.Type { Value.self }

    var anyDefaultValue: Any { defaultValue }

    var constraintDescription: String? { constraint?.description }

    func violation(of object: Any) -> String? {
        guard let constraint else { return nil }
        do {
            return constraint.violation(try coding.decode(object))
        } catch {
            return ValueMismatch(error, in: Value.self).reason
        }
    }
}
