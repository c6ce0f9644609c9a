/// What one `@Pref` says, and what has been found out about it for the instance that it belongs to.
final class PrefProperty<Value>: DeclaredProperty, @unchecked Sendable {
    let explicitKey: String?
    let formerKeys: [String]
    let defaultValue: Value
    let constraint: PrefConstraint<Value>?
    private let givenCoding: PrefCoding<Value>?

    // Guarded by the lock of the instance's state.
    private var binding: Binding?
    private var reading: Reading?

    /// The property in its class.
    struct Binding {
        let key: String
        let coding: PrefCoding<Value>
    }

    /// A stored object and the value that was made of it.
    private struct Reading {
        let object: Any
        let value: Value
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

    /// Called before anything else, with where the instance has its wrapper.
    func bind(to prefs: PersistentPrefs, at storage: AnyKeyPath) {
        if prefs.state.withLock({ binding != nil }) { return }
        let new = Binding(key: prefs.declarations.key(of: self, in: prefs, at: storage), coding: coding)
        prefs.state.withLock { binding = new }
    }

    func binding(in state: InstanceState) -> Binding {
        guard let binding = state.withLock({ binding }) else {
            preconditionFailure("a property without its class")
        }
        return binding
    }

    // MARK: - Values

    /// The value that a stored object stands for. An object that is the same as at the last call is not decoded again.
    ///
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated`.
    func value(of object: Any, in state: InstanceState) throws(PrefsError) -> Value {
        let binding = binding(in: state)
        return try checked(decoded(object, binding, state), binding)
    }

    /// The same, made anew and not kept.
    func freshValue(of object: Any, in state: InstanceState) throws(PrefsError) -> Value {
        let binding = binding(in: state)
        return try checked(binding.coding.value(of: object, forKey: binding.key), binding)
    }

    private func checked(_ value: Value, _ binding: Binding) throws(PrefsError) -> Value {
        if let reason = constraint?.violation(value) {
            throw .constraintViolated([.init(path: binding.key, topLevelKey: binding.key, reason: reason)])
        }
        return value
    }

    private func decoded(_ object: Any, _ binding: Binding, _ state: InstanceState) throws(PrefsError) -> Value {
        guard binding.coding.reuse.isAllowed else {
            return try binding.coding.value(of: object, forKey: binding.key)
        }
        let last = state.withLock { reading }
        if let last, CanonicalValue.areIdentical(last.object, object) { return last.value }
        let value: Value
        if let last, CanonicalValue.areEqual(last.object, object) {
            value = last.value
        } else {
            value = try binding.coding.value(of: object, forKey: binding.key)
            // Decoding may have found out.
            guard binding.coding.reuse.isAllowed else { return value }
        }
        // What was kept is released outside the lock: somebody's deinit may come back here.
        let new = Reading(object: object, value: value)
        let old = state.withLock {
            defer { reading = new }
            return reading
        }
        withExtendedLifetime(old) {}
        return value
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
