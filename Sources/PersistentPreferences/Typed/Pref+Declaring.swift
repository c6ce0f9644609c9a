/// The forms of `@Pref(…)`, each for the types that ``PrefCoding`` can store.
///
/// The parameters that they share:
/// - `key`: where the value is stored; nil stands for the property's name.
/// - `choices`: what values must be (`in: 8...72`, `in: Theme.allCases`). A write of another is refused, through
///   whichever door; a stored one is kept and reads as the default, which itself is not checked.
/// - `formerKeys`: where former versions stored the value. It is found there where the key itself is absent, and moved by
///   the first write to the root.
/// - `check`: says in a sentence why a value must not be stored, beginning with "must"; nil lets it through.
extension Pref where Value: Codable {
    /// Of everything a property list holds, and of every Codable type.
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same, of a range or a list of choices.
    public init<Choices: PrefChoices<Value>>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(choices))
    }

    /// The same, of nil or one of the choices.
    public init<Choices: PrefChoices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) where Value == Choices.PrefChoice? {
        self.init(
            wrappedValue, key, formerKeys, PrefConstraint(optional: PrefConstraint(choices)))
    }
}

extension Pref where Value: RawRepresentable, Value.RawValue: Codable {
    /// Of a type with a raw value, whether it is Codable or not.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }

    /// The same, of a list of choices.
    @_disfavoredOverload
    public init<Choices: PrefChoices<Value>>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) {
        self.init(wrappedValue, key, formerKeys, PrefConstraint(choices))
    }
}

/// An optional, an array, a set or a dictionary with text keys: what ``Pref`` and ``PrefKey`` can store of values that
/// are not Codable themselves.
public protocol PrefContainer {
    /// What it contains.
    associatedtype Content
}

extension Optional: PrefContainer {
    /// See ``PrefContainer``.
    public typealias Content = Wrapped
}

extension Array: PrefContainer {
    /// See ``PrefContainer``.
    public typealias Content = Element
}

extension Set: PrefContainer {
    /// See ``PrefContainer``.
    public typealias Content = Element
}

extension Dictionary: PrefContainer where Key == String {
    /// See ``PrefContainer``.
    public typealias Content = Value
}

extension Pref where Value: PrefContainer, Value.Content: RawRepresentable, Value.Content.RawValue: Codable {
    /// Of optionals and collections of a type with a raw value.
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
    Value: PrefContainer, Value.Content: PrefContainer, Value.Content.Content: RawRepresentable,
    Value.Content.Content.RawValue: Codable
{
    /// Of collections in collections, two deep.
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
    Value: PrefContainer, Value.Content: PrefContainer, Value.Content.Content: PrefContainer,
    Value.Content.Content.Content: RawRepresentable, Value.Content.Content.Content.RawValue: Codable
{
    /// Of collections in collections, three deep.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref where Value == [String: Any] {
    /// Of whatever a property list holds, under text keys; vetted when it is written.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(wrappedValue, key, formerKeys, check: check)
    }
}

extension Pref where Value == [Any] {
    /// Of a list of whatever a property list holds; vetted when it is written.
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
    public init(
        wrappedValue: Value, _ key: String? = nil, coding: PrefCoding<Value>, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        self.init(
            wrappedValue, key, formerKeys, check: check, coding: coding)
    }

    /// What is left: the compiler says why it cannot be.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make the type Codable or RawRepresentable, or give a coding"
    )
    @_disfavoredOverload
    public init(wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...) {
        fatalError("a value of this type cannot be stored")
    }
}
