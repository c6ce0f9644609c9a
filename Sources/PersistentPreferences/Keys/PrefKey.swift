public import Foundation
import PrefsPropertyLists

/// A key of its own, outside of any class: a type whose name is the key and whose one static property is the default.
///
/// ```swift
/// struct fontSize: PrefKey { static let defaultValue = 12.0 }
///
/// fontSize.value += 5                 // UserDefaults.standard
/// fontSize.get(otherDefaults)         // another UserDefaults
/// fontSize()[otherDefaults] += 10
/// ```
///
/// A value is one entry of a `UserDefaults` domain, as `UserDefaults` itself would store it, so that both may be mixed;
/// or one of an ``AppSettingsValues``. ``PrefCoding`` says what can be a value. An optional that is nil removes
/// the entry. A read gives the default where nothing is stored, or nothing that fits, which then is kept;
/// ``didFail(_:)`` tells of it.
///
/// `UserDefaults.standard`: on Linux its domain file is read and written by this package's own engine, with locks,
/// durable when the call returns; what other code has set on `UserDefaults.standard` comes first, synchronized or
/// not; arguments and registered defaults are not read. A `UserDefaults` of the caller's is used as it is, with all that
/// its `object(forKey:)` finds, and with `synchronize()` after each write: on Linux that is neither atomic nor safe from
/// other processes, what those have written is seen after the next write, and it cannot be part of an `update`;
/// on iOS, watchOS and visionOS a write before the first unlock of the device is not held back.
///
/// A key shares its domain with the root keys of ``PersistentPrefs`` classes: name none like one of those. In a module
/// whose default isolation is the main actor, declare a type whose initializer makes the default `nonisolated`.
///
/// Cost: a read from `UserDefaults.standard` is one of `UserDefaults`, and on Linux an `fstat`; a write one replacement
/// of the domain's file. Any thread. A change in place (`+=`) is a read and a write, and is not written where the
/// stored value could not be read. Follows `TSUD` (seed 003).
public protocol PrefKey: SendableMetatype {
    /// The type of the value.
    associatedtype Value

    /// Makes the key an object, for the subscript.
    init()

    /// What is read where nothing is stored.
    static var defaultValue: Value { get }

    /// The key: the type's own name unless overridden. At most 1,024 bytes, not empty.
    static var stringKey: String { get }

    /// How the value is stored: by the rule of ``PrefCoding``, unless it is given.
    static var coding: PrefCoding<Value> { get }

    /// Called for each error of a read or a write of the key, on its thread; not for those of accesses in it. Does nothing
    /// by default.
    static func didFail(_ error: PrefsError)
}

extension PrefKey {
    /// The name of the type: `fontSize`, without a mark (`fontSize #1`) that a compiler may put behind it.
    public static var stringKey: String { PrefKeyName.stripped(String(describing: Self.self)) }

    /// Does nothing.
    public static func didFail(_ error: PrefsError) {}

    /// The value in `UserDefaults.standard`.
    public static var value: Value {
        get { get() }
        set { set(newValue) }
        _modify {
            var change = changeInPlace(in: DefaultsEntries(.standard))
            yield &change.value
            commit(change)
        }
    }

    /// The value in `UserDefaults.standard`, or in another `UserDefaults`.
    public static func get(_ defaults: UserDefaults = .standard) -> Value {
        read(from: DefaultsEntries(defaults))
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this very write; nil where it is stored.
    @discardableResult
    public static func set(_ value: Value, _ defaults: UserDefaults = .standard) -> PrefsError? {
        write(value, to: DefaultsEntries(defaults))
    }

    /// Removes what is stored, so that the default is read.
    ///
    /// - Returns: the error of this very write; nil where it is done.
    @discardableResult
    public static func reset(_ defaults: UserDefaults = .standard) -> PrefsError? {
        remove(from: DefaultsEntries(defaults))
    }

    /// The value in a `UserDefaults`, to be changed in place: `fontSize()[defaults] += 10`.
    public subscript(defaults: UserDefaults) -> Value {
        get { Self.get(defaults) }
        nonmutating set { Self.set(newValue, defaults) }
        nonmutating _modify {
            var change = Self.changeInPlace(in: DefaultsEntries(defaults))
            yield &change.value
            Self.commit(change)
        }
    }
}

extension UserDefaults {
    /// The value of a key: `defaults[fontSize.self] += 10`. See ``PrefKey``.
    public subscript<Key: PrefKey>(key: Key.Type) -> Key.Value {
        get { key.get(self) }
        set { key.set(newValue, self) }
        _modify {
            var change = key.changeInPlace(in: DefaultsEntries(self))
            yield &change.value
            key.commit(change)
        }
    }
}

// MARK: - How values are stored

extension PrefKey where Value: Codable {
    /// The rule of ``PrefCoding``.
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension PrefKey where Value: RawRepresentable, Value.RawValue: Codable {
    /// The rule of ``PrefCoding``: the raw value.
    @_disfavoredOverload
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension PrefKey where Value: _PrefRawValues {
    /// The rule of ``PrefCoding``: raw values.
    @_disfavoredOverload
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension PrefKey where Value: _PrefOptionalRawValues {
    /// The rule of ``PrefCoding``: raw values, or nil.
    @_disfavoredOverload
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension PrefKey where Value: _PrefAnyValues {
    /// The rule of ``PrefCoding``: whatever a property list holds.
    @_disfavoredOverload
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension PrefKey {
    /// Unavailable: a value of this type cannot be stored.
    @available(
        *, unavailable,
        message: "a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    )
    @_disfavoredOverload
    public static var coding: PrefCoding<Value> { fatalError("unavailable") }
}

enum PrefKeyName {
    /// Older compilers mark a type that is declared in a function with a number: `hasWidgets #1`.
    static func stripped(_ name: String) -> String {
        guard let mark = name.lastIndex(of: "#"), mark > name.startIndex else { return name }
        let number = name[name.index(after: mark)...]
        let space = name.index(before: mark)
        guard name[space] == " ", !number.isEmpty, number.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return name
        }
        return String(name[..<space])
    }
}
