import PrefsFileEngine
import PrefsPropertyLists

/// The declaration of one `@Pref`, its key and coding in its class, and the value of its last read.
///
/// Unchecked because the values may not be Sendable, and because the lock of the instance's state guards the two
/// variables. An own lock would cost each instance a mutex for each property.
package final class PrefProperty<Value>: DeclaredProperty, @unchecked Sendable {
    package let givenDefault: Value
    /// Looked at when they are needed, because each instance evaluates its declarations and most instances use few of
    /// their properties. nil if the declaration has only a default, as most have: an empty array would cost a search for
    /// its type.
    private let given: [PrefOption<Value>]?

    private var binding: Binding?
    /// The value of the last read.
    private(set) var lastRead: LastRead?

    /// The property in its class. `Binding` and `LastRead` are classes, because copying a generic struct costs more than
    /// the read.
    final class Binding {
        let key: String
        let coding: PrefCoding<Value>
        let constraint: PrefConstraint<Value>?

        init(key: String, coding: PrefCoding<Value>, constraint: PrefConstraint<Value>?) {
            self.key = key
            self.coding = coding
            self.constraint = constraint
        }
    }

    /// The result of a read, and its decoded value; the default if nothing was stored.
    final class LastRead: CachedValue {
        let value: Value
        private let binding: Binding

        init(_ found: ReadResult, _ value: Value, of binding: Binding) {
            (self.value, self.binding) = (value, binding)
            super.init(found, forKey: binding.key, isChecked: found.value != nil && binding.constraint != nil)
        }

        override var isValid: Bool { binding.constraint?.violation(value) == nil }
    }

    init(_ defaultValue: Value, _ options: [PrefOption<Value>]? = nil) {
        givenDefault = defaultValue
        given = options
    }

    /// Creates a property that no class declares.
    package convenience init(_ defaultValue: Value, key: String, coding: PrefCoding<Value>) {
        self.init(defaultValue, [.key(key), PrefOption(.coding(coding))])
        binding = Binding(key: key, coding: coding, constraint: nil)
    }

    /// The property in its class, with the value of its last read.
    ///
    /// `hasNews` is whether the instance must be told of a read that succeeds.
    typealias Bound = (binding: Binding, lastRead: LastRead?, hasNews: Bool)

    /// Finds the property in its class. Called before any other method.
    ///
    /// - Parameter storage: the key path of the wrapper.
    @discardableResult
    func bind(to prefs: any DeclaringClass, _ instance: RootInstance, at storage: AnyKeyPath) -> Bound {
        let (binding, lastRead) = instance.lock.withLock { (self.binding, self.lastRead) }
        if let binding { return (binding, lastRead, true) }
        let key = instance.declarations.key(of: self, in: prefs, at: storage)
        let new = Binding(key: key, coding: coding, constraint: constraint)
        instance.lock.withLock { self.binding = new }
        return (new, nil, true)
    }

    func binding(in instance: RootInstance) -> Binding { instance.lock.withLock { known.binding } }

    func bound(in state: InstanceState) -> Bound {
        state.lock.withLock {
            let (binding, lastRead) = known
            return (binding, lastRead, state.recordsSuccess)
        }
    }

    /// Read under the lock.
    private var known: (binding: Binding, lastRead: LastRead?) {
        guard let binding else { preconditionFailure("the property is not bound to its class") }
        return (binding, lastRead)
    }

    // MARK: - Values

    /// Decodes the result of a read; returns the default if nothing is stored. A stored value that equals the one of
    /// the last read is not decoded again.
    ///
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated`.
    func value(
        of found: ReadResult, _ binding: Binding, _ lastRead: LastRead?, in instance: RootInstance
    ) throws(PrefsError) -> Value {
        guard let stored = found.value else {
            if found.revision != nil { keep(found, givenDefault, of: binding, in: instance) }
            return givenDefault
        }
        let value: Value
        if !binding.coding.isCheap, let lastRead, lastRead.isOf(stored) {
            value = lastRead.value
        } else {
            value = try decoded(stored, binding, as: found.form)
        }
        if found.revision != nil || !binding.coding.isCheap { keep(found, value, of: binding, in: instance) }
        return try checked(value, binding)
    }

    /// The value of the last read, if the state is still the same.
    ///
    /// - Throws: `PrefsError.constraintViolated`.
    func value(of lastRead: LastRead, _ binding: Binding) throws(PrefsError) -> Value {
        lastRead.isOfNothing ? lastRead.value : try checked(lastRead.value, binding)
    }

    /// Decodes a stored value of another state, such as an earlier one. The result is not cached.
    func freshValue(
        of stored: StoredValue, in roots: Roots, _ instance: RootInstance
    ) throws(PrefsError) -> Value {
        let binding = binding(in: instance)
        return try checked(decoded(stored, binding, as: roots.form), binding)
    }

    private func decoded(
        _ stored: StoredValue, _ binding: Binding, as form: ValueForm
    ) throws(PrefsError) -> Value {
        try converting(binding.key) { () throws(ValueMismatch) in
            try binding.coding.value(of: stored, orAs: form) { encodedDefault(binding.coding) }
        }
    }

    private func checked(_ value: Value, _ binding: Binding) throws(PrefsError) -> Value {
        if let reason = binding.constraint?.violation(value) {
            throw .violation(ofKey: binding.key, reason)
        }
        return value
    }

    private func keep(_ found: ReadResult, _ value: Value, of binding: Binding, in instance: RootInstance) {
        let new = LastRead(found, value, of: binding)
        instance.lock.withLock { lastRead = new }
    }

    /// The stored form of the default, for the fields that a stored value lacks.
    package func encodedDefault(_ coding: PrefCoding<Value>) -> StoredValue? { coding.vetted(givenDefault) }

    /// The stored form of a value; nil removes the key.
    ///
    /// - Throws: `PrefsError.constraintViolated`, `.valuesNotPlistCompatible`.
    func stored(for value: Value, _ binding: Binding) throws(PrefsError) -> StoredValue? {
        let key = binding.key
        if let reason = binding.constraint?.violation(value) {
            throw .violation(ofKey: key, reason)
        }
        let stored = try converting(key, to: PrefsError.unsupportedValues) { () throws(ValueMismatch) in
            try binding.coding.stored(for: value)
        }
        return stored.map { sectionFields?.withMarkers($0) ?? $0 }
    }

    /// The write that stores a value. Without a value, the default would be read in place of nil.
    ///
    /// - Throws: `PrefsError.constraintViolated`, `.valuesNotPlistCompatible`.
    func write(_ value: Value, _ binding: Binding) throws(PrefsError) -> RootWrite {
        let stored = try stored(for: value, binding)
        let isNil = stored == nil && Value.self is any OptionalValue.Type && encodedDefault(binding.coding) != nil
        return .property(key: binding.key, isNil ? .null : stored, self)
    }

    package func withUnknownFields(_ new: StoredValue, of stored: StoredValue, as form: ValueForm) -> StoredValue {
        // Asked before the coding is made, which costs 600 instructions; most values have no fields.
        guard UnknownFields.mayBeLost(from: stored, in: new) else { return new }
        let coding = coding
        // The marker is the exact form of nil, and the form of a file may have another one.
        let plain = sectionFields?.withoutMarkers(stored) ?? stored
        return coding.withUnknownFields(new, of: plain, as: form) { encodedDefault(coding) }
    }

    package func canonical(
        _ stored: StoredValue, forKey key: String, from form: ValueForm, keepsUnknownFields: Bool
    ) throws(PrefsError) -> StoredValue {
        let coding = coding
        let fallback = { self.encodedDefault(coding) }
        let value = try converting(key) { () throws(ValueMismatch) in
            try coding.value(of: stored, as: form, filledFrom: fallback)
        }
        if let reason = constraint?.violation(value) {
            throw .violation(ofKey: key, reason)
        }
        guard let read = coding.vetted(value).map({ sectionFields?.withMarkers($0) ?? $0 }) else { return stored }
        return keepsUnknownFields ? coding.withUnknownFields(read, of: stored, as: form, filledFrom: fallback) : read
    }

    /// Runs the closure, and converts its mismatch to an error of a key. The error of a secret has no paths inside of it.
    private func converting<R>(
        _ key: String, to error: ([PropertyListFailure]) -> PrefsError = PrefsError.mismatch,
        _ body: () throws(ValueMismatch) -> R
    ) throws(PrefsError) -> R {
        do {
            return try body()
        } catch let mismatch {
            let error = error(mismatch.failures(forKey: key))
            throw isSensitive ? error.withoutPaths { _ in true } : error
        }
    }

    // MARK: - For the class

    package var givenKeys: [String] {
        var all: [String] = []
        forEachPart { if case .key(let key) = $0 { all.append(key) } }
        return all
    }

    package var formerKeys: [String] {
        var all: [String] = []
        forEachPart { if case .formerKeys(let keys) = $0 { all += keys } }
        return all
    }

    /// By index: the first iterator of options costs a program 240,000 instructions.
    private func forEachPart(_ body: (PrefOption<Value>.Part) -> Void) {
        guard let given else { return }
        var index = 0
        while index < given.count {
            body(given[index].part)
            index += 1
        }
    }

    package var isSensitive: Bool {
        given?.contains { if case .sensitive = $0.part { true } else { false } } ?? false
    }

    package var isRequired: Bool {
        given?.contains { if case .required = $0.part { true } else { false } } ?? false
    }

    package var isMerged: Bool {
        given?.contains { if case .merged = $0.part { true } else { false } } ?? false
    }

    package var help: String? {
        given?.compactMap { if case .help(let text) = $0.part { text } else { nil } }.last
    }

    package var givenCoding: PrefCoding<Value>? {
        guard let options = given else { return nil }
        for case .coding(let coding) in options.map(\.part) { return coding }
        return nil
    }

    package var coding: PrefCoding<Value> { givenCoding ?? PrefCoding(rule: Value.self) }

    /// nil if every value is valid. Checks get only values that satisfy the constraints.
    package var constraint: PrefConstraint<Value>? {
        if given == nil { return nil }
        var (constraints, checks) = ([PrefConstraint<Value>](), [PrefConstraint<Value>]())
        forEachPart { part in
            switch part {
            // An empty array is not appended to: that costs a program 210,000 instructions.
            case .constraint(let make): constraints = constraints.isEmpty ? [make()] : constraints + [make()]
            case .check(let check): checks.append(.check(check))
            case .key, .formerKeys, .coding, .sensitive, .required, .merged, .help: break
            }
        }
        let all = checks.isEmpty ? constraints : constraints + checks
        return all.isEmpty ? nil : .all(all)
    }

    package var valueType: Any.Type { Value.self }

    package var anyDefaultValue: Any { givenDefault }

    package var storedDefault: StoredValue? { encodedDefault(coding) }

    package var constraintDescription: String? { constraint?.description }

    package var defaultViolation: String? { constraint?.violation(givenDefault) }

    package func encodedRead(
        of stored: StoredValue, forKey key: String, as form: ValueForm
    ) throws(PrefsError) -> StoredValue? {
        coding.vetted(try fitting(stored, forKey: key, as: form))
    }

    package func error(of stored: StoredValue, forKey key: String, as form: ValueForm) -> PrefsError? {
        do throws(PrefsError) {
            _ = try fitting(stored, forKey: key, as: form)
            return nil
        } catch {
            return error
        }
    }

    /// The value of a stored one that a read would return.
    private func fitting(
        _ stored: StoredValue, forKey key: String, as form: ValueForm
    ) throws(PrefsError) -> Value {
        let coding = coding
        let value = try converting(key) { () throws(ValueMismatch) in
            try coding.value(of: stored, orAs: form) { encodedDefault(coding) }
        }
        if let reason = constraint?.violation(value) { throw .violation(ofKey: key, reason) }
        return value
    }
}

extension InstanceState {
    /// The last read of a property, found by a key path of its wrapper, and whether the instance must be told of a read
    /// that succeeds.
    @inline(__always)
    func lastRead<Value>(
        at storage: AnyKeyPath, _ type: Value.Type
    ) -> (last: PrefProperty<Value>.LastRead?, hasNews: Bool) {
        lock.withLock {
            guard let properties, let property = properties.pointee[storage] else { return (nil, true) }
            return (unsafeDowncast(property, to: PrefProperty<Value>.self).lastRead, recordsSuccess)
        }
    }
}
