import PrefsPropertyLists

/// The initializers of `@Pref(…)`, each for some of the types that ``PrefCoding`` can store.
///
/// They differ in the types that they take. All take a key, constraints (`constraint:`) or choices (`in:`), former
/// keys, a check, `sensitive:` and `help:`.
///
/// A RawRepresentable type that is not Codable may be in an optional, an array, a set or a dictionary with string keys,
/// and each of these in an optional (`[Theme]?`). `Any` may be in an array or a dictionary, or an optional of one. For
/// deeper nesting, pass a coding.
extension PersistentPrefs.Pref where Value: Codable {
    /// Declares a property of a property-list type or another Codable type.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default. If it violates a constraint, the program stops when the first instance is
    ///     created.
    ///   - key: the key that the value is stored under; nil stands for the property's name.
    ///   - constraints: what values must be. Every write path rejects other values. A stored value that violates them
    ///     is kept and reads as the default.
    ///   - formerKeys: the keys of former versions of the program. If the key is absent, a read finds the value under a
    ///     former key. The first write to the root moves it, for every class that shares the root.
    ///   - check: returns why a value is rejected, beginning with "must", or nil for a valid value. Applies to every
    ///     write and read, like `constraints`, and is called only with values that satisfy them. The check of an
    ///     optional property also gets nil.
    ///   - sensitive: hides the value and its default in errors, descriptions, schemas and the tool's commands on the
    ///     class. The file, ``PersistentPrefs/values``, ``PersistentPrefs/exported(as:)`` and the tool's commands on a
    ///     domain contain it. A keychain is safer. Your checks must not quote it.
    ///   - help: one sentence for people, for ``PrefDescription/help``, a schema and tools. Never stored.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to
    ///   the main actor, declare its type `nonisolated`, or inside the class of preferences.
    public init(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Value>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint.all(constraints, check), sensitive: sensitive, help: help)
    }

    /// Declares an optional property, with constraints of its values: nil is valid.
    public init<Wrapped>(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Wrapped>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) where Value == Wrapped? {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint.all(ofOptional: constraints, check), sensitive: sensitive,
            help: help)
    }

    /// Declares a property whose values are in a range, a list or your own choices: `in: 8...72`, `in: 3...`,
    /// `in: Theme.allCases`.
    public init(
        wrappedValue: Value, _ key: String? = nil, in choices: some _PrefChoiceSource<Value>,
        previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        self.init(
            wrappedValue, key, formerKeys, { PrefConstraint.in(choices).and(check) }, sensitive: sensitive, help: help)
    }

    /// Declares an optional property whose value is nil or one of the choices.
    public init<Choices: _PrefChoiceSource>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) where Value == Choices._PrefChoice? {
        self.init(
            wrappedValue, key, formerKeys, { PrefConstraint.in(choices).ofOptional.and(check) }, sensitive: sensitive,
            help: help)
    }
}

extension PersistentPrefs.Pref where Value: _UseAStructOrGiveACoding {
    /// Ambiguous on purpose, like the initializer without arguments: a property of a Codable class does not compile
    /// without a coding.
    public init(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Value>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        fatalError("a Codable class needs a coding")
    }

    /// Ambiguous on purpose, with choices: a Codable class needs a coding; use a struct.
    public init(
        wrappedValue: Value, _ key: String? = nil, in choices: some _PrefChoiceSource<Value>,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        fatalError("a Codable class needs a coding")
    }
}

extension PersistentPrefs.Pref where Value: RawRepresentable, Value.RawValue: Codable {
    /// Declares a property of a RawRepresentable type. Parameters as for Codable values.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to
    ///   the main actor, declare its type `nonisolated`, or inside the class of preferences.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Value>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint.all(constraints, check), sensitive: sensitive, help: help)
    }

    /// Declares a property whose values are in a range, a list or your own choices.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, in choices: some _PrefChoiceSource<Value>,
        previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        self.init(
            wrappedValue, key, formerKeys, { PrefConstraint.in(choices).and(check) }, sensitive: sensitive, help: help)
    }
}

extension PersistentPrefs.Pref where Value: _PrefRawValues {
    /// Declares a property of an optional, an array, a set or a dictionary of a type with a raw value. Parameters as
    /// for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Value>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint.all(constraints, check), sensitive: sensitive, help: help)
    }

    /// Declares an optional property, with constraints of its values: nil is valid.
    @_disfavoredOverload
    public init<Wrapped>(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Wrapped>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) where Value == Wrapped? {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint.all(ofOptional: constraints, check), sensitive: sensitive,
            help: help)
    }

    /// Declares an optional property whose value is nil or one of the choices.
    @_disfavoredOverload
    public init<Choices: _PrefChoiceSource>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) where Value == Choices._PrefChoice? {
        self.init(
            wrappedValue, key, formerKeys, { PrefConstraint.in(choices).ofOptional.and(check) }, sensitive: sensitive,
            help: help)
    }
}

extension PersistentPrefs.Pref where Value: _PrefOptionalRawValues {
    /// Declares a property of an optional of an optional, an array, a set or a dictionary of a type with a raw value,
    /// with constraints of its values: nil is valid. Parameters as for Codable values.
    @_disfavoredOverload
    public init<Wrapped>(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Wrapped>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) where Value == Wrapped? {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint.all(ofOptional: constraints, check), sensitive: sensitive,
            help: help)
    }
}

extension PersistentPrefs.Pref where Value: _PrefAnyValues {
    /// Declares a property of an array or a dictionary of values that a property list can hold, or of an optional of
    /// one. A write checks them. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, constraint constraints: PrefConstraint<Value>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        self.init(
            PrefCoding.ownCopy(of: wrappedValue), key, formerKeys, PrefConstraint.all(constraints, check),
            sensitive: sensitive, help: help)
    }
}

extension PersistentPrefs.Pref {
    /// Declares a property of any type, with a coding.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default. If it violates a constraint, the program stops when the first instance is
    ///     created.
    ///   - key: the key that the value is stored under; nil stands for the property's name.
    ///   - coding: converts values to and from their stored form. Readers on any thread may get the same object from
    ///     it, also inside a struct, so a class must be immutable or thread-safe.
    ///   - constraints: what values must be.
    ///   - formerKeys: the keys of former versions of the program.
    ///   - check: returns why a value is rejected, beginning with "must", or nil for a valid value.
    ///   - sensitive: hides the value, as for Codable values.
    ///   - help: one sentence for people.
    public init(
        wrappedValue: Value, _ key: String? = nil, coding: PrefCoding<Value>,
        constraint constraints: PrefConstraint<Value>..., previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint.all(constraints, check), coding: coding, sensitive: sensitive,
            help: help)
    }
}
