import PrefsPropertyLists

/// The initializers of `@Pref(…)`, each for some of the types that ``PrefCoding`` can store. All take a
/// ``PrefOption`` list.
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
    ///   - options: the key, constraints, former keys and a help text, in any order.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to
    ///   the main actor, declare its type `nonisolated`, or inside the class of preferences.
    public init(wrappedValue: Value, _ options: PrefOption<Value>...) { self.init(wrappedValue, options) }

    /// Declares an optional whose default is nil: `@Pref(.required) var token: String?`.
    public init(_ options: PrefOption<Value>...) where Value: ExpressibleByNilLiteral { self.init(nil, options) }
}

extension PersistentPrefs.Pref where Value: _UseAStructOrGiveACoding {
    /// Ambiguous on purpose, like the initializer without arguments: a property of a Codable class does not compile
    /// without a coding.
    @_documentation(visibility: internal)
    public init(wrappedValue: Value, _ options: PrefOption<Value>...) { fatalError("a Codable class needs a coding") }
}

extension PersistentPrefs.Pref where Value: RawRepresentable, Value.RawValue: Codable {
    /// Declares a property of a RawRepresentable type. Parameters as for Codable values.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ options: PrefOption<Value>...) { self.init(wrappedValue, options) }
}

extension PersistentPrefs.Pref where Value: _PrefRawValues {
    /// Declares a property of an optional, an array, a set or a dictionary of a type with a raw value. Parameters as
    /// for Codable values.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ options: PrefOption<Value>...) { self.init(wrappedValue, options) }

    /// Declares an optional whose default is nil: `@Pref(.required) var theme: Theme?`.
    @_disfavoredOverload
    public init(_ options: PrefOption<Value>...) where Value: ExpressibleByNilLiteral { self.init(nil, options) }
}

extension PersistentPrefs.Pref where Value: _PrefOptionalRawValues {
    /// Declares a property of an optional of an optional, an array, a set or a dictionary of a type with a raw value.
    /// Parameters as for Codable values.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ options: PrefOption<Value>...) { self.init(wrappedValue, options) }
}

extension PersistentPrefs.Pref where Value: _PrefAnyValues {
    /// Declares a property of an array or a dictionary of values that a property list can hold, or of an optional of
    /// one. A write checks them. Parameters as for Codable values.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ options: PrefOption<Value>...) {
        self.init(PrefCoding.ownCopy(of: wrappedValue), options)
    }
}

extension PersistentPrefs.Pref {
    /// Declares a property of any type, with a coding.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - options: as for Codable values.
    ///   - coding: converts values to and from their stored form. Readers on any thread may get the same object from
    ///     it, also inside a struct, so a class must be immutable or thread-safe.
    public init(wrappedValue: Value, _ options: PrefOption<Value>..., coding: PrefCoding<Value>) {
        self.init(wrappedValue, options + [PrefOption(.coding(coding))])
    }
}

// MARK: - Misuse

/// The forms of `@Pref(…)` that do not work. Each gives one compiler error that says what to do.
///
/// They are unavailable and disfavored, so the compiler chooses one only if no other form fits.
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

    /// Unavailable: the key is the first argument, without a label.
    @available(*, unavailable, message: "give the key without a label: @Pref(\"key\")")
    @_disfavoredOverload
    public init(wrappedValue: Value, key: String, _ options: PrefOption<Value>...) { fatalError("unavailable") }

    /// Unavailable: the default is the initial value.
    @available(*, unavailable, message: "give the default as the initial value: @Pref var name = …")
    @_disfavoredOverload
    public init(default value: Value, _ options: PrefOption<Value>...) { fatalError("unavailable") }

    /// Unavailable: the default is the initial value.
    @available(*, unavailable, message: "give the default as the initial value: @Pref(\"key\") var name = …")
    @_disfavoredOverload
    public init(_ key: String, default value: Value) { fatalError("unavailable") }
}
