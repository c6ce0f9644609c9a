public import Foundation

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
/// not; arguments and registered defaults are not looked at. A `UserDefaults` of the caller's is used as it is,
/// with `synchronize()` after each write: on Linux that is neither atomic nor safe from other processes, and what those
/// have written is seen after the next write.
///
/// Cost: a read from `UserDefaults.standard` is one of `UserDefaults`, and on Linux an `fstat`; a write one replacement
/// of the domain's file. Any thread; `+=` is a read and a write. Follows `TSUD` (seed 003).
public protocol PrefKey: SendableMetatype {
    /// The type of the value.
    associatedtype Value

    /// Makes the key an object, for the subscript.
    init()

    /// What is read where nothing is stored.
    static var defaultValue: Value { get }

    /// The key: the type's own name unless overridden. At most 1,024 bytes, not empty.
    static var stringKey: String { get }

    /// How the value is stored: ``PrefCoding/automatic`` where the type lets it be.
    static var coding: PrefCoding<Value> { get }

    /// Called for each error of a read or a write of the key, on its thread. Does nothing by default.
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
    }
}

extension UserDefaults {
    /// The value of a key: `defaults[fontSize.self] += 10`.
    public subscript<Key: PrefKey>(key: Key.Type) -> Key.Value {
        get { key.get(self) }
        set { key.set(newValue, self) }
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

extension PrefKey where Value: PrefContainer, Value.Content: RawRepresentable, Value.Content.RawValue: Codable {
    /// The rule of ``PrefCoding``: raw values.
    @_disfavoredOverload
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

extension PrefKey
where
    Value: PrefContainer, Value.Content: PrefContainer, Value.Content.Content: RawRepresentable,
    Value.Content.Content.RawValue: Codable
{
    /// The rule of ``PrefCoding``: raw values, two deep.
    @_disfavoredOverload
    public static var coding: PrefCoding<Value> { PrefCoding(rule: Value.self) }
}

// MARK: - Entries

extension PrefKey {
    static func read(from entries: some KeyedEntries) -> Value {
        do {
            return try stored(in: entries)
        } catch {
            let error = PrefsError(error)
            didFail(error)
            // A damaged file was set aside: the next read gives the state of now.
            guard case .damaged(_, _, _?, _) = error, let value = try? stored(in: entries) else { return defaultValue }
            return value
        }
    }

    private static func stored(in entries: some KeyedEntries) throws -> Value {
        try NameVetting.checkRoot(stringKey)
        guard let object = try entries.object(forKey: stringKey) else { return defaultValue }
        return try coding.value(of: object, forKey: stringKey)
    }

    static func write(_ value: Value, to entries: some KeyedEntries) -> PrefsError? {
        attempt {
            guard let object = try coding.object(for: value, forKey: stringKey) else {
                return try entries.setObject(nil, forKey: stringKey)
            }
            switch PropertyListVetter.canonical(object, forKey: stringKey) {
            case .success(let copy): try entries.setObject(copy, forKey: stringKey)
            case .failure(let refusal): throw PrefsError.valuesNotPlistCompatible(refusal.failures)
            }
        }
    }

    static func remove(from entries: some KeyedEntries) -> PrefsError? {
        attempt { try entries.setObject(nil, forKey: stringKey) }
    }

    private static func attempt(_ write: () throws -> Void) -> PrefsError? {
        do {
            try NameVetting.checkRoot(stringKey)
            try write()
            return nil
        } catch {
            let error = PrefsError(error)
            didFail(error)
            return error
        }
    }
}

enum PrefKeyName {
    /// Older compilers mark a type that is declared in a function with a number: `hasWidgets #1`.
    static func stripped(_ name: String) -> String {
        guard let mark = name.firstMatch(of: /\ #\d+$/) else { return name }
        return String(name[..<mark.range.lowerBound])
    }
}
