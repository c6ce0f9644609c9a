import PrefsPropertyLists

/// The forms of `@Pref(…)`, each for some of the types that ``PrefCoding`` can store.
///
/// What is not Codable itself, a raw value's type or `Any`, may stand in optionals, arrays, sets and dictionaries with
/// text keys up to three deep (`[String: [Theme]]?`), `Any` up to two; for more give a coding.
extension Pref where Value: Codable {
    /// Of everything that a property list holds, and of every Codable type.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: where the value is stored; nil stands for the property's name.
    ///   - formerKeys: where former versions of the program stored the value. It is found there where the key itself is
    ///     absent, and moved by the first write to the root, for every class that shares the root.
    ///   - check: says why a value must not be stored, beginning with "must"; nil lets it through. Enforced as choices are.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to the main
    ///   actor, declare its type `nonisolated`, or inside the class of preferences.
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same, of a range or a list of choices.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: where the value is stored; nil stands for the property's name.
    ///   - choices: what values must be: a range (`in: 8...72`), a list (`in: Theme.allCases`). A write of another is
    ///     refused, through whichever door; a stored one is kept and reads as the default, which itself is not checked.
    ///   - formerKeys: where former versions of the program stored the value. It is found there where the key itself is
    ///     absent, and moved by the first write to the root, for every class that shares the root.
    public init<Choices: PrefChoices<Value>>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(choices))
    }

    /// The same, of nil or one of the choices. Parameters as of Codable values.
    public init<Choices: PrefChoices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) where Value == Choices.PrefChoice? {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(optional: PrefConstraint(choices)))
    }
}

extension Pref where Value: RawRepresentable, Value.RawValue: Codable {
    /// Of a type with a raw value, whether it is Codable or not. Parameters as of Codable values.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to the main
    ///   actor, declare its type `nonisolated`, or inside the class of preferences.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same, of a list of choices. Parameters as of Codable values.
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
    /// Of an optional or a collection of a type with a raw value. Parameters as of Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same, of nil or one of the choices. Parameters as of Codable values.
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
    /// Of collections in collections, two deep. Parameters as of Codable values.
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
    /// Of collections in collections, three deep. Parameters as of Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref where Value: _PrefContainer, Value._PrefContent == Any {
    /// Of a list or a dictionary of whatever a property list holds, which is vetted when it is written. Parameters as of
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
    /// The same, two deep. Parameters as of Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref {
    /// Of any type, with a coding of one's own.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: where the value is stored; nil stands for the property's name.
    ///   - coding: how it is stored.
    ///   - formerKeys: where former versions of the program stored it.
    ///   - check: says why a value must not be stored, beginning with "must"; nil lets it through.
    public init(
        wrappedValue: Value, _ key: String? = nil, coding: PrefCoding<Value>, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check, coding: coding)
    }
}
