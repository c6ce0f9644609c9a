import PrefsPropertyLists

/// The forms of `@Pref(…)` that do not work. Each exists to give one error that says what to do.
///
/// They are unavailable and disfavored, so the compiler chooses one only if no form in `Pref+Declaring.swift` fits.
extension Pref {
    /// Unavailable: a value of this type cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String? = nil, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: the choices are not a closed range or a list of values of the property's type.
    @available(
        *, unavailable,
        message: "in: takes a closed range, such as 1...9, or a list, of values of the property's own type"
    )
    @_disfavoredOverload
    public init<Choices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: the range is half-open.
    @available(
        *, unavailable,
        message: "in: takes a closed range: write 1...2 for 1..<3, or check: for a condition such as $0 < 3"
    )
    @_disfavoredOverload
    public init<Bound>(
        wrappedValue: Value, _ key: String? = nil, in choices: Range<Bound>, previously formerKeys: String...
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: the range has one bound.
    @available(
        *, unavailable,
        message: "in: takes a closed range: write both bounds, or check: for a condition such as $0 >= 1"
    )
    @_disfavoredOverload
    public init<Bound>(
        wrappedValue: Value, _ key: String? = nil, in choices: PartialRangeFrom<Bound>, previously formerKeys: String...
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: there are choices and a check.
    @available(*, unavailable, message: "give either in: or check:, since a check can test for the choices too")
    @_disfavoredOverload
    public init<Choices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...,
        check: @Sendable (Value) -> String?
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: there is no initial value.
    @available(*, unavailable, message: "give the property an initial value, which is its default")
    @_disfavoredOverload
    public init(
        _ key: String? = nil, previously formerKeys: String..., check: (@Sendable (Value) -> String?)? = nil
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: there is no initial value.
    @available(*, unavailable, message: "give the property an initial value, which is its default")
    @_disfavoredOverload
    public init<Choices>(_ key: String? = nil, in choices: Choices, previously formerKeys: String...) {
        fatalError("unavailable")
    }

    /// Unavailable: there is no initial value.
    @available(*, unavailable, message: "give the property an initial value, which is its default")
    @_disfavoredOverload
    public init(
        _ key: String? = nil, coding: PrefCoding<Value>, previously formerKeys: String...,
        check: (@Sendable (Value) -> String?)? = nil
    ) {
        fatalError("unavailable")
    }
}

extension Pref where Value: RawRepresentable, Value.RawValue: Codable {
    /// Unavailable: the type has a raw value and is not Codable, and the choices are not a list.
    @available(
        *, unavailable,
        message:
            "in: takes a list of values of this type: make the type Codable for a closed range or choices of your own"
    )
    @_disfavoredOverload
    public init<Choices>(
        wrappedValue: Value, _ key: String? = nil, in choices: Choices, previously formerKeys: String...
    ) {
        fatalError("unavailable")
    }
}
