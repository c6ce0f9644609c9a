public import PersistentPreferences
import PrefsPropertyLists

/// The initializers of `@AppSetting("key")`, each for some of the types that ``PrefCoding`` can store. Without an
/// initial value, an optional starts with nil.
extension AppSetting where Value: Codable {
    /// Declares a property of a flat key, of a property-list type or another Codable type.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default.
    ///   - key: the entry: not empty, and at most 1,024 bytes. Each access of another name fails.
    ///   - store: where the entry is; nil stands for `UserDefaults.standard`. It is an entry of the domain, in
    ///     every layout. In a fleet, over a backend and in a layered store, it is a value of the root `AppSettings`.
    ///   - didFail: called for each error of a read or a write, on the thread of the access. Errors of accesses inside
    ///     it do not call it.
    public init(
        wrappedValue: Value, _ key: String, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(wrappedValue, key, store, nil, didFail)
    }

    /// Declares an optional property of a flat key that is nil if nothing is stored.
    public init(
        _ key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, key, store, nil, didFail)
    }

    /// Declares a property of a flat key, with the default as an argument:
    /// `@AppSetting(key: "volume", defaultValue: 0.5) var volume: Double`.
    public init(
        key: String, defaultValue: Value, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(defaultValue, key, store, nil, didFail)
    }

    /// Declares an optional property of a flat key that is nil if nothing is stored: `@AppSetting(key: "x") var x: Bool?`.
    public init(
        key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, key, store, nil, didFail)
    }
}

extension AppSetting where Value: _UseAStructOrGiveACoding {
    /// Ambiguous on purpose: a setting of a Codable class does not compile without a coding. Use a struct, or give a
    /// coding.
    @_documentation(visibility: internal) public init(
        wrappedValue: Value, _ key: String, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        fatalError("a Codable class needs a coding")
    }

    /// Ambiguous on purpose: a setting of a Codable class does not compile without a coding.
    @_documentation(visibility: internal) public init(
        key: String, defaultValue: Value, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        fatalError("a Codable class needs a coding")
    }
}

extension AppSetting where Value: RawRepresentable, Value.RawValue: Codable {
    /// Declares a property of a flat key, of a type with a raw value, with the default as an argument.
    @_disfavoredOverload
    public init(
        key: String, defaultValue: Value, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(defaultValue, key, store, nil, didFail)
    }

    /// Declares a property of a flat key, of a type with a raw value. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(wrappedValue, key, store, nil, didFail)
    }
}

extension AppSetting where Value: _PrefRawValues {
    /// Declares a property of a flat key. Its type is an optional, an array, a set or a dictionary of a type with a raw
    /// value. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(wrappedValue, key, store, nil, didFail)
    }

    /// Declares an optional property of a flat key that is nil if nothing is stored.
    @_disfavoredOverload
    public init(
        _ key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, key, store, nil, didFail)
    }

    /// Declares an optional property of a flat key, with the key as an argument.
    @_disfavoredOverload
    public init(
        key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, key, store, nil, didFail)
    }
}

extension AppSetting where Value: _PrefOptionalRawValues {
    /// Declares a property of a flat key. Its type is an optional of an optional, an array, a set or a dictionary of a
    /// type with a raw value. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(wrappedValue, key, store, nil, didFail)
    }

    /// Declares an optional property of a flat key that is nil if nothing is stored.
    @_disfavoredOverload
    public init(
        _ key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, key, store, nil, didFail)
    }
}

extension AppSetting where Value: _PrefAnyValues {
    /// Declares a property of a flat key. Its type is an array or a dictionary of `Any`, or an optional of one; a write
    /// checks that a property list can hold the value. Parameters as for Codable values.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(PrefCoding.ownCopy(of: wrappedValue), key, store, nil, didFail)
    }

    /// Declares an optional property of a flat key that is nil if nothing is stored.
    @_disfavoredOverload
    public init(
        _ key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, key, store, nil, didFail)
    }
}

extension AppSetting {
    /// Declares a property of a flat key, of any type, with a coding. Parameters as for Codable values.
    public init(
        wrappedValue: Value, _ key: String, coding: PrefCoding<Value>, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        self.init(wrappedValue, key, store, coding, didFail)
    }

    /// Declares an optional property of a flat key that is nil if nothing is stored.
    public init(
        _ key: String, coding: PrefCoding<Value>, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, key, store, coding, didFail)
    }

    /// Unavailable: a value of this type cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ key: String, store: PrefsStore? = nil,
        didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        fatalError("unavailable")
    }

    /// Unavailable: an optional of a value of this type cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    @_disfavoredOverload
    public init(
        _ key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) where Value: ExpressibleByNilLiteral {
        fatalError("unavailable")
    }

    /// Unavailable: the property needs an initial value.
    @available(*, unavailable, message: "give the property an initial value, which is its default")
    @_disfavoredOverload
    public init(
        _ key: String, store: PrefsStore? = nil, didFail: (@Sendable (PrefsError) -> Void)? = nil
    ) {
        fatalError("unavailable")
    }
}
