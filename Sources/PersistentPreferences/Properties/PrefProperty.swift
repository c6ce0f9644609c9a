import PrefsPropertyLists

/// The declaration of one `@Pref`, its key and coding in its class, and the value of its last read.
///
/// Unchecked because the values may not be Sendable, and because the lock of the instance's state guards the two variables: a lock
/// of its own would cost each instance a mutex for each property. Values that hold objects are decoded for each reader.
final class PrefProperty<Value>: DeclaredProperty, @unchecked Sendable {
    let explicitKey: String?
    let formerKeys: [String]
    let help: String?
    let givenDefault: Value
    let constraint: PrefConstraint<Value>?
    let givenCoding: PrefCoding<Value>?

    private var binding: Binding?
    private var kept: Kept?

    /// The property in its class. `Binding` and `Kept` are classes, because copying a generic struct costs more than the read.
    final class Binding {
        let key: String
        let coding: PrefCoding<Value>
        /// Whether the default holds no object, so that all readers may get the same value.
        let sharesDefault: Bool

        init(key: String, coding: PrefCoding<Value>, sharesDefault: Bool) {
            self.key = key
            self.coding = coding
            self.sharesDefault = sharesDefault
        }
    }

    /// The object of a read and its decoded value; the default if there was no object.
    final class Kept: CachedValue {
        let value: Value

        init(_ found: StoredObject, _ value: Value) {
            self.value = value
            super.init(found)
        }
    }

    init(
        _ defaultValue: Value, key: String?, previously formerKeys: [String], constraint: PrefConstraint<Value>?,
        coding: PrefCoding<Value>?, help: String?
    ) {
        self.help = help
        givenDefault = defaultValue
        explicitKey = key
        self.formerKeys = formerKeys
        self.constraint = constraint
        givenCoding = coding
    }

    /// The property in its class, with the value of its last read.
    typealias Bound = (binding: Binding, kept: Kept?)

    /// Finds the property in its class. Called before any other method.
    ///
    /// - Parameter storage: the key path of the wrapper.
    @discardableResult
    func bind(to prefs: PersistentPrefs, at storage: AnyKeyPath) -> Bound {
        let (binding, kept) = prefs.state.withLock { (self.binding, self.kept) }
        if let binding { return (binding, kept) }
        let key = prefs.declarations.key(of: self, in: prefs, at: storage)
        let new = Binding(key: key, coding: coding, sharesDefault: !ObjectSearch.findsObject(in: givenDefault))
        prefs.state.withLock { self.binding = new }
        return (new, nil)
    }

    func binding(in state: InstanceState) -> Binding { bound(in: state).binding }

    func bound(in state: InstanceState) -> Bound {
        state.withLock {
            guard let binding else { preconditionFailure("the property is not bound to its class") }
            return (binding, kept)
        }
    }

    // MARK: - Values

    /// The value of an object; the default if there is none. An object that equals that of the last read is not decoded again.
    ///
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated`.
    func value(
        of found: StoredObject, _ binding: Binding, _ kept: Kept?, in state: InstanceState
    ) throws(PrefsError) -> Value {
        guard let object = found.object else {
            if binding.sharesDefault, found.revision != nil { keep(found, givenDefault, in: state) }
            return defaultValue(binding)
        }
        let value: Value
        if binding.coding.cachePolicy.isWorthwhile, let kept, kept.isOf(object) {
            value = kept.value
        } else {
            value = try binding.coding.value(of: object, forKey: binding.key) { encodedDefault(binding.coding) }
        }
        if found.revision != nil || binding.coding.cachePolicy.isWorthwhile,
            binding.coding.cachePolicy.isAllowed(for: value)
        {
            keep(found, value, in: state)
        }
        return try checked(value, binding)
    }

    /// The value of the last read, if the state is still the same.
    ///
    /// - Throws: `PrefsError.constraintViolated`.
    func value(of kept: Kept, _ binding: Binding) throws(PrefsError) -> Value {
        kept.isOfNothing ? kept.value : try checked(kept.value, binding)
    }

    /// The value of an object that was not read from the current state, such as one of an earlier state. Not cached.
    func freshValue(of object: Any, in state: InstanceState) throws(PrefsError) -> Value {
        let binding = binding(in: state)
        let value = try binding.coding.value(of: object, forKey: binding.key) { encodedDefault(binding.coding) }
        return try checked(value, binding)
    }

    private func checked(_ value: Value, _ binding: Binding) throws(PrefsError) -> Value {
        if let constraint, let reason = constraint.violation(value) {
            throw .constraintViolated([.init(path: binding.key, topLevelKey: binding.key, reason: reason)])
        }
        return value
    }

    private func keep(_ found: StoredObject, _ value: Value, in state: InstanceState) {
        let new = Kept(found, value)
        state.withLock { kept = new }
    }

    /// The default. Each reader gets its own copy if it holds an object.
    func defaultValue(in state: InstanceState) -> Value {
        defaultValue(binding(in: state))
    }

    func defaultValue(_ binding: Binding) -> Value {
        binding.sharesDefault ? givenDefault : copyOfDefault()
    }

    /// The default as a stored object, for the fields that a stored value lacks.
    func encodedDefault(_ coding: PrefCoding<Value>) -> Any? { coding.canonical(givenDefault) }

    private func copyOfDefault() -> Value { coding.copy(of: givenDefault) }

    func checkDefault() {
        if ObjectSearch.findsObject(in: givenDefault) { _ = copyOfDefault() }
    }

    /// The object to store for a value; nil removes the key.
    ///
    /// - Throws: `PrefsError.constraintViolated`, `.valuesNotPlistCompatible`.
    func object(for value: Value, _ binding: Binding) throws(PrefsError) -> Any? {
        let key = binding.key
        if let reason = constraint?.violation(value) {
            throw .constraintViolated([.init(path: key, topLevelKey: key, reason: reason)])
        }
        return try binding.coding.object(for: value, forKey: key)
    }

    /// The same object with the fields of a stored one that the type does not know; nil if there are none.
    func withUnknownFields(_ new: Any, of stored: Any, _ binding: Binding) -> Any? {
        binding.coding.withUnknownFields(new, of: stored) { encodedDefault(binding.coding) }
    }

    // MARK: - For the class

    var coding: PrefCoding<Value> { givenCoding ?? PrefCoding(rule: Value.self) }

    var valueType: Any.Type { Value.self }

    var anyDefaultValue: Any { ObjectSearch.findsObject(in: givenDefault) ? copyOfDefault() : givenDefault }

    var defaultObject: Any? { encodedDefault(coding) }

    var constraintDescription: String? { constraint?.description }

    var defaultViolation: String? { constraint?.violation(givenDefault) }

    func error(of object: Any, forKey key: String) -> PrefsError? {
        let coding = coding
        do throws(PrefsError) {
            let value = try coding.value(of: object, forKey: key) { encodedDefault(coding) }
            let reason = constraint?.violation(value)
            return reason.map { .constraintViolated([.init(path: key, topLevelKey: key, reason: $0)]) }
        } catch {
            return error
        }
    }

    func failure(of object: Any, forKey key: String) -> PropertyListFailure? {
        let coding = coding
        do {
            let value = try coding.decode(object) { encodedDefault(coding) }
            let reason = constraint?.violation(value)
            return reason.map { PropertyListFailure(path: key, topLevelKey: key, reason: $0) }
        } catch {
            return error.failure(forKey: key)
        }
    }
}
