import PrefsPropertyLists

/// A preference: a property of a ``PersistentPrefs`` subclass whose value is stored under the subclass's root.
///
/// ```swift
/// final class EditorPrefs: Prefs, @unchecked Sendable {
///     @Pref var fontSize = 12.0                          // key "fontSize", default 12.0
///     @Pref("Has Widgets") var hasWidgets = false        // explicit key
///     @Pref(in: 8...72) var size = 12                    // out of range is refused
///     @Pref(previously: "fontsize") var fontName = "Menlo"
/// }
/// ```
///
/// The key is the property's name, or the one given, and needs no mention in ``PersistentPrefs/keys``. Two properties
/// with one key stop the program when the first instance is made. ``PrefCoding`` says what can be a value and how it is
/// stored. `$fontSize` is a ``PrefHandle``.
///
/// A read gives the default where nothing is stored, and where what is stored is of another type or breaks the
/// constraint: then it is kept, and ``PersistentPrefs/lastError`` tells. A change in place (`prefs.recent.append(url)`) of
/// a value that could not be read is refused; assigning a value replaces what is stored. One that ends by throwing
/// stores what it has made until then, as with any computed property. Writing an optional nil removes
/// the key, so that the default is read again; where nil and absent are to differ, make it doubly optional.
///
/// What a property says holds for the class: of several instances whose initializers give it other keys or constraints,
/// the first counts.
///
/// No two reads return the same object of a class. A default that holds an object is therefore copied by its coding at each
/// read; one that cannot be copied stops the program when the first instance is made.
///
/// Cost: a read is one of the class and the conversion of the value, which is not done again as long as nothing is committed,
/// nor, for lists, dictionaries and Codable types, as long as what is stored stays the same; instances of classes are made
/// anew each time. A write is one of the class. Any thread.
/// Mirrors `@AppStorage` of SwiftUI.
@propertyWrapper
public struct Pref<Value>: PrefWrapper {
    private let property: PrefProperty<Value>

    init(
        _ defaultValue: Value, _ key: String?, _ formerKeys: [String], _ constraint: PrefConstraint<Value>?,
        coding: PrefCoding<Value>? = nil
    ) {
        property = PrefProperty(
            defaultValue, key: key, previously: formerKeys, constraint: constraint, coding: coding)
    }

    init(
        _ defaultValue: Value, _ key: String?, _ formerKeys: [String], check: (@Sendable (Value) -> String?)?,
        coding: PrefCoding<Value>? = nil
    ) {
        let constraint = if let check { PrefConstraint(check: check) } else { nil as PrefConstraint<Value>? }
        self.init(defaultValue, key, formerKeys, constraint, coding: coding)
    }

    /// `@Pref var owner: Person?` starts with nil where the compiler finds an initializer like this in the type itself, and
    /// not in an extension.
    /// - Note: Values are made and decoded on any thread. If the compiler says that the default value is isolated to the main
    ///   actor, declare its type `nonisolated`, or inside the class of preferences.
    public init(wrappedValue: Value) where Value: Codable {
        self.init(wrappedValue, nil, [], check: nil)
    }

    var declaredProperty: any DeclaredProperty { property }

    /// What the compiler makes of `prefs.property`.
    public static subscript<Prefs: PersistentPrefs>(
        _enclosingInstance prefs: Prefs, wrapped property: ReferenceWritableKeyPath<Prefs, Value>,
        storage storage: ReferenceWritableKeyPath<Prefs, Pref<Value>>
    ) -> Value {
        get { prefs.value(of: Self.property(of: prefs, at: storage)) }
        set { prefs.set(newValue, of: Self.property(of: prefs, at: storage)) }
        _modify {
            let property = Self.property(of: prefs, at: storage)
            var change = prefs.changeInPlace(of: property)
            yield &change.value
            prefs.commit(change, of: property)
        }
    }

    /// What the compiler makes of `prefs.$property`.
    public static subscript<Prefs: PersistentPrefs>(
        _enclosingInstance prefs: Prefs, projected property: KeyPath<Prefs, PrefHandle<Value>>,
        storage storage: ReferenceWritableKeyPath<Prefs, Pref<Value>>
    ) -> PrefHandle<Value> {
        PrefHandle(prefs: prefs, property: Self.property(of: prefs, at: storage))
    }

    private static func property<Prefs: PersistentPrefs>(
        of prefs: Prefs, at storage: KeyPath<Prefs, Self>
    ) -> PrefProperty<Value> {
        let property = prefs[keyPath: storage].property
        property.bind(to: prefs, at: storage)
        return property
    }

    /// Not used: the subscripts above are.
    @available(*, unavailable, message: "@Pref works in subclasses of PersistentPrefs only")
    public var wrappedValue: Value {
        get { fatalError("@Pref works in subclasses of PersistentPrefs only") }
        set { fatalError("@Pref works in subclasses of PersistentPrefs only") }
    }

    /// Not used: the subscripts above are.
    @available(*, unavailable, message: "@Pref works in subclasses of PersistentPrefs only")
    public var projectedValue: PrefHandle<Value> { fatalError("@Pref works in subclasses of PersistentPrefs only") }
}

extension Pref: Sendable where Value: Sendable {}
