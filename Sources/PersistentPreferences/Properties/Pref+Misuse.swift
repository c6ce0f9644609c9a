import PrefsPropertyLists

/// The forms of `@Pref(…)` that do not work. Each gives one compiler error that says what to do.
///
/// They are unavailable and disfavored, so the compiler chooses one only if no form in `Pref+Declaring.swift` fits.
extension PersistentPrefs.Pref {
    /// Unavailable: a value of this type, for example a tuple, cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    @_disfavoredOverload
    public init(wrappedValue: Value) { fatalError("unavailable") }

    /// Unavailable: a value of this type cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    @_disfavoredOverload
    public init(wrappedValue: Value, _ options: PrefOption<Value>...) { fatalError("unavailable") }

    /// Unavailable: the property needs an initial value.
    @available(*, unavailable, message: "give the property an initial value, which is its default")
    @_disfavoredOverload
    public init<Coding>(_ options: PrefOption<Value>..., coding: Coding = ()) { fatalError("unavailable") }
}
