import PrefsPropertyLists

/// The forms of `@Pref(…)` that do not work. Each gives one compiler error that says what to do.
///
/// They are unavailable and disfavored, so the compiler chooses one only if no form in `Pref+Declaring.swift` fits.
extension PersistentPrefs.Pref {
    /// Unavailable: a value of this type cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: the choices are not a range or a list of values of the property's type.
    @available(
        *, unavailable,
        message: "in: takes a range, such as 1...9, a list or a PrefChoices type, of values of the property's own type"
    )
    @_disfavoredOverload
    public init<Choices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: the property needs an initial value.
    @available(*, unavailable, message: "give the property an initial value, which is its default")
    @_disfavoredOverload
    public init<Choices, Coding>(
        _ key: String? = nil, in choices: Choices = (), coding: Coding = (), constraint: PrefConstraint<Value>...,
        previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil, sensitive: Bool = false,
        help: String? = nil
    ) {
        fatalError("unavailable")
    }
}
