import PrefsPropertyLists

/// The initializers of `@Pref(…)`, each for some of the types that ``PrefCoding`` can store.
///
/// A RawRepresentable type that is not Codable may be nested in optionals, arrays, sets and dictionaries with string keys up to three
/// levels deep (`[String: [Theme]]?`), and `Any` up to two. For deeper nesting, pass a coding.
extension Pref where Value: Codable {
    /// Declares a property of a property-list type or another Codable type.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: the key that the value is stored under; nil stands for the property's name.
    ///   - formerKeys: the keys of former versions of the program. If the key is absent, a read finds the value under a former key. The
    ///     first write to the root moves it, for every class that shares the root.
    ///   - check: returns why a value is rejected, beginning with "must", or nil for a valid value. Applies to the same accesses as
    ///     `choices`.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to the main
    ///   actor, declare its type `nonisolated`, or inside the class of preferences.
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same with a closed range: `in: 8...72`.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: the key that the value is stored under; nil stands for the property's name.
    ///   - choices: the allowed values. Every write path rejects another value. A stored one is kept and reads as the default, which is
    ///     not checked.
    ///   - formerKeys: the keys of former versions of the program. If the key is absent, a read finds the value under a former key. The
    ///     first write to the root moves it, for every class that shares the root.
    public init(
        wrappedValue: Value, _ key: String? = nil, in choices: ClosedRange<Value>, previously formerKeys: String...
    ) where Value: Comparable {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(RangeChoices(range: choices)))
    }

    /// The same, of a list: `in: Theme.allCases`. Parameters as of a range.
    public init(
        wrappedValue: Value, _ key: String? = nil, in choices: [Value], previously formerKeys: String...
    ) where Value: Equatable {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(ListChoices(list: choices)))
    }

    /// The same, of a ``PrefChoices`` type. Parameters as of a range.
    public init(
        wrappedValue: Value, _ key: String? = nil, in choices: some PrefChoices<Value>, previously formerKeys: String...
    ) {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(choices))
    }

    /// The same, of nil or a value in a closed range. Parameters as of a range.
    public init<Wrapped: Comparable>(
        wrappedValue: Value, _ key: String? = nil, in choices: ClosedRange<Wrapped>, previously formerKeys: String...
    ) where Value == Wrapped? {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(optional: RangeChoices(range: choices)))
    }

    /// The same, of nil or a value in a list. Parameters as of a range.
    public init<Wrapped: Equatable>(
        wrappedValue: Value, _ key: String? = nil, in choices: [Wrapped], previously formerKeys: String...
    ) where Value == Wrapped? {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(optional: ListChoices(list: choices)))
    }

    /// The same, of nil or a value of a ``PrefChoices`` type. Parameters as of a range.
    public init<Choices: PrefChoices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) where Value == Choices.PrefChoice? {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(optional: choices))
    }
}

extension Pref where Value: RawRepresentable, Value.RawValue: Codable {
    /// Declares a property of a RawRepresentable type. Parameters as for Codable values.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to the main
    ///   actor, declare its type `nonisolated`, or inside the class of preferences.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same with a list of choices. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, in choices: [Value], previously formerKeys: String...
    ) where Value: Equatable {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(ListChoices(list: choices)))
    }
}

extension Pref where Value: _PrefRawValues {
    /// For an optional, an array, a set or a dictionary of a type with a raw value. The parameters are those for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same for an optional: nil is always valid. Parameters as for Codable values.
    @_disfavoredOverload
    public init<Wrapped: Equatable>(
        wrappedValue: Value, _ key: String? = nil, in choices: [Wrapped], previously formerKeys: String...
    ) where Value == Wrapped? {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(optional: ListChoices(list: choices)))
    }
}

extension Pref where Value: _PrefOptionalRawValues {
    /// For an optional of one of those. The parameters are those for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref where Value: _PrefAnyValues {
    /// For an array or a dictionary of any property-list values, or an optional of one. A write vets it. The parameters are those for
    /// Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref {
    /// Declares a property of any type, with a coding.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: the key that the value is stored under; nil stands for the property's name.
    ///   - coding: converts values to and from their stored form.
    ///   - formerKeys: the keys of former versions of the program.
    ///   - check: returns why a value is rejected, beginning with "must", or nil for a valid value.
    public init(
        wrappedValue: Value, _ key: String? = nil, coding: PrefCoding<Value>, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check, coding: coding)
    }
}
