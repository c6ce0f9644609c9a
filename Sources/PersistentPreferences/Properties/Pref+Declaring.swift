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

    /// Declares a property whose values are restricted to a range or a list.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: the key that the value is stored under; nil stands for the property's name.
    ///   - choices: the valid values: a range (`in: 8...72`) or a list (`in: Theme.allCases`). Every write path rejects other values. A
    ///     stored value that is not valid is kept and reads as the default. The default itself is not checked.
    ///   - formerKeys: the keys of former versions of the program. If the key is absent, a read finds the value under a former key. The
    ///     first write to the root moves it, for every class that shares the root.
    public init<Choices: PrefChoices<Value>>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(choices))
    }

    /// The same for an optional: nil is always valid. Parameters as for Codable values.
    public init<Choices: PrefChoices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) where Value == Choices.PrefChoice? {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(optional: PrefConstraint(choices)))
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
    public init<Choices: PrefChoices<Value>>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(choices))
    }
}

/// Not for use: how the compiler sees what ``Pref`` and ``PrefKey`` can store of values that are not Codable themselves.
/// A type that conforms is not stored any better.
public protocol _PrefContainer {
    /// Not for use.
    associatedtype _PrefContent
}

extension Optional: _PrefContainer {
    /// Not for use.
    public typealias _PrefContent = Wrapped
}

extension Array: _PrefContainer {
    /// Not for use.
    public typealias _PrefContent = Element
}

extension Set: _PrefContainer {
    /// Not for use.
    public typealias _PrefContent = Element
}

extension Dictionary: _PrefContainer where Key == String {
    /// Not for use.
    public typealias _PrefContent = Value
}

extension Pref
where
    Value: _PrefContainer,
    Value._PrefContent: RawRepresentable,
    Value._PrefContent.RawValue: Codable
{
    /// Declares a property that is an optional or a collection of a RawRepresentable type. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same for an optional: nil is always valid. Parameters as for Codable values.
    @_disfavoredOverload
    public init<Choices: PrefChoices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) where Value == Choices.PrefChoice? {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(optional: PrefConstraint(choices)))
    }
}

extension Pref
where
    Value: _PrefContainer,
    Value._PrefContent: _PrefContainer,
    Value._PrefContent._PrefContent: RawRepresentable,
    Value._PrefContent._PrefContent.RawValue: Codable
{
    /// The same for collections in collections, two levels deep. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref
where
    Value: _PrefContainer,
    Value._PrefContent: _PrefContainer,
    Value._PrefContent._PrefContent: _PrefContainer,
    Value._PrefContent._PrefContent._PrefContent: RawRepresentable,
    Value._PrefContent._PrefContent._PrefContent.RawValue: Codable
{
    /// The same for collections in collections, three levels deep. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref where Value: _PrefContainer, Value._PrefContent == Any {
    /// Declares a property that is an array or a dictionary of any property-list values. A write checks them. Parameters as for
    /// Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref where Value: _PrefContainer, Value._PrefContent: _PrefContainer, Value._PrefContent._PrefContent == Any {
    /// The same, two levels deep. Parameters as for Codable values.
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
