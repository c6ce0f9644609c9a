import PrefsPropertyLists

extension PersistentPrefs {
    /// A preference: a property of a ``PersistentPrefs`` subclass whose value is stored under the subclass's root.
    ///
    /// ```swift
    /// final class EditorPrefs: Prefs, @unchecked Sendable {
    ///     @Pref var fontSize = 12.0  // key "fontSize", default 12.0
    ///     @Pref("Has Widgets", .in(8...72)) var size = 12  // explicit key; other values are rejected
    /// }
    /// ```
    ///
    /// The key is the name of the property, or the one given; ``PrefOption`` has the other options. A new wrapper, such as
    /// `_size = PersistentPrefs.Pref(wrappedValue: 9)` in an initializer, counts if it is assigned before the first access. ``PrefCoding`` lists the types of values. `$fontSize` is
    /// a ``PrefHandle``. Mirrors `@AppStorage` of SwiftUI. See <doc:TypedPreferences>.
    ///
    /// ## Behavior
    /// A read returns the default if nothing is stored, if the stored value is of another type, or if it violates the
    /// constraint; the stored value is kept. Assigning nil to an optional removes the key. A change in place
    /// (`prefs.recent.append(url)`) is a read and a write, also if it throws.
    ///
    /// Two properties with the same key, or a default that violates its own constraint, stop the program when the first
    /// instance is created. The first instance also decides the keys and constraints for the class.
    ///
    /// A Codable class does not compile without a coding, because a change inside an object would not be stored. In an
    /// optional or a collection (`Person?`, `[Person]`), or with a raw value, it stops the program at the first access.
    ///
    /// ## Performance
    /// A read costs a read of the class. The value is decoded again only after a commit; an array, a dictionary or a
    /// Codable value only if its stored form has changed. A write costs a write of the class.
    ///
    /// ## Errors
    /// ``PersistentPrefs/lastError`` is ``PrefsError/typeMismatch(_:)`` or ``PrefsError/constraintViolated(_:)`` if a
    /// stored value does not fit. A change in place of such a value is rejected.
    ///
    /// ## Threads
    /// Any thread.
    @propertyWrapper
    public struct Pref<Value>: PrefWrapper {
        private let property: PrefProperty<Value>

        /// The initializer that all initializers with options call.
        init(_ defaultValue: Value, _ options: [PrefOption<Value>]) {
            property = PrefProperty(defaultValue, options)
        }

        /// Declares a property of a Codable type: `@Pref var owner: Person? = nil`.
        ///
        /// The compiler uses an initializer of this form in the type itself, not in an extension, to start
        /// `@Pref var owner: Person?` with nil. An instance costs less than with the other initializers.
        /// - Note: Values are created and decoded on any thread. If the compiler says that the default value is
        ///   isolated to the main actor, declare its type `nonisolated`, or inside the class of preferences.
        public init(wrappedValue: Value) where Value: Codable {
            property = PrefProperty(wrappedValue)
        }

        /// Ambiguous on purpose: a property of a Codable class does not compile without a coding. Use a struct, or give
        /// a coding.
        ///
        /// Readers would share an object, and a change inside it would not be stored. An unavailable initializer would
        /// state this in the error, but the compiler prefers the available one, and shows this line below the error.
        @_documentation(visibility: internal)
        public init(wrappedValue: Value) where Value: _UseAStructOrGiveACoding {
            fatalError("a Codable class needs a coding")
        }

        var declaredProperty: any DeclaredProperty { property }

        /// The compiler calls this for `prefs.property`.
        public static subscript<Prefs: PersistentPrefs>(
            _enclosingInstance prefs: Prefs, wrapped property: ReferenceWritableKeyPath<Prefs, Value>,
            storage storage: ReferenceWritableKeyPath<Prefs, Pref<Value>>
        ) -> Value {
            get {
                let (last, hasNews) = prefs.state.lastRead(at: storage, Value.self)
                if let last, prefs.isCurrent(last, hasNews: hasNews) { return last.value }
                let (property, bound) = Self.bound(in: prefs, at: storage)
                return prefs.freshRead(of: property, bound)
            }
            set {
                let (property, (binding, _, _)) = Self.bound(in: prefs, at: storage)
                prefs.write { try $0.commit(property.write(newValue, binding), &$1) }
            }
            _modify {
                yield &PrefHandle(prefs: prefs, property: Self.bound(in: prefs, at: storage).property).inPlace
            }
        }

        /// The compiler calls this for `prefs.$property`.
        public static subscript<Prefs: PersistentPrefs>(
            _enclosingInstance prefs: Prefs, projected property: KeyPath<Prefs, PrefHandle<Value>>,
            storage storage: ReferenceWritableKeyPath<Prefs, Pref<Value>>
        ) -> PrefHandle<Value> {
            PrefHandle(prefs: prefs, property: Self.bound(in: prefs, at: storage).property)
        }

        private static func bound<Prefs: PersistentPrefs>(
            in prefs: Prefs, at storage: KeyPath<Prefs, Self>
        ) -> (property: PrefProperty<Value>, PrefProperty<Value>.Bound) {
            if let known = prefs.state.property(at: storage) {
                let property = unsafeDowncast(known, to: PrefProperty<Value>.self)
                return (property, property.bound(in: prefs.state))
            }
            let property = prefs[keyPath: storage].property
            let bound = property.bind(to: prefs, prefs.state, at: storage)
            prefs.state.note(property, at: storage)
            return (property, bound)
        }

        /// Unavailable: the compiler calls the subscripts above.
        @available(*, unavailable, message: "@Pref works in subclasses of PersistentPrefs only")
        public var wrappedValue: Value {
            get { fatalError("@Pref works in subclasses of PersistentPrefs only") }
            set { fatalError("@Pref works in subclasses of PersistentPrefs only") }
        }

        /// Unavailable: the compiler calls the subscripts above.
        @available(*, unavailable, message: "@Pref works in subclasses of PersistentPrefs only")
        public var projectedValue: PrefHandle<Value> { fatalError("@Pref works in subclasses of PersistentPrefs only") }
    }
}

extension PersistentPrefs.Pref: Sendable where Value: Sendable {}

extension PersistentPrefs.Pref: HidesValues {
    package var shownParts: KeyValuePairs<String, Any> {
        ["default": property.isSensitive ? ShownText.hidden : property.anyDefaultValue]
    }
}

/// A Codable class, which `@Pref` does not store without a coding.
public typealias _UseAStructOrGiveACoding = AnyObject & Decodable

/// The meaning of `@Pref` outside of a subclass of ``PersistentPrefs``: a compiler error.
///
/// In a subclass, `@Pref` names the member ``PersistentPrefs/Pref``. Elsewhere it names this type, whose only purpose
/// is an error at the line of the property. A constraint of the member's subscripts would give an error without a line.
@available(*, unavailable, message: "@Pref works in subclasses of PersistentPrefs only")
@propertyWrapper
public struct Pref<Value> {
    /// Unavailable, with any arguments.
    public init<Coding>(wrappedValue: Value, _ options: PrefOption<Value>..., coding: Coding = ()) {
        fatalError("unavailable")
    }

    /// Unavailable.
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    /// Unavailable.
    public var projectedValue: PrefHandle<Value> { fatalError("unavailable") }
}
