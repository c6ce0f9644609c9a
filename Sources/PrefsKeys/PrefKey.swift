import Foundation
public import PersistentPreferences
import PrefsPropertyLists

/// A single key without a class: a type whose name is the key and whose static property is the default.
///
/// ```swift
/// import PrefsKeys
///
/// struct fontSize: PrefKey { static let defaultValue = 12.0 }
///
/// fontSize.value += 5  // in UserDefaults.standard
/// let size = fontSize.get(otherDefaults)  // in another UserDefaults
/// ```
///
/// A value is one entry of a `UserDefaults` domain, or a value of an ``AppSettingsValues``. ``PrefCoding`` lists the
/// types. Follows `TSUD` (type-safe user defaults).
///
/// ## Behavior
/// A read returns the default if nothing is stored or if the stored value does not fit; an unfit value is kept. Setting
/// an optional to nil removes the entry. A change in place (`+=`) is a read and a write; if the read fails, it writes
/// nothing.
///
/// A value in `UserDefaults.standard` is tracked by the Observation framework, as a property is.
///
/// In `UserDefaults.standard`, arguments, registered defaults and other domains are neither read nor stored. On Linux,
/// the package reads and writes the domain's file with locks, and a write is durable when it returns. On Apple
/// platforms, the system stores it later. See <doc:Behavior> for values that other code has not synchronized, and
/// ``subscript(_:)`` for another `UserDefaults`.
///
/// A key shares its domain with the root keys of ``PersistentPrefs`` classes, so give it a different name.
///
/// ## Performance
/// A read costs a read of `UserDefaults` and, for the standard domain on Linux, an `fstat`; if the key has a registered
/// default there, also a copy of the domain. A write on Linux replaces the domain's file.
///
/// ## Errors
/// ``didFail(_:)`` is called for each error. ``set(_:_:)`` and ``reset(_:)`` return theirs.
///
/// ## Threads
/// Any thread.
public protocol PrefKey: _PrefKeyCoding, SendableMetatype {
    /// The type of the value.
    associatedtype Value

    /// Creates an instance of the key, for the subscript.
    init()

    /// The value that is read if nothing is stored. It may be evaluated once and kept. In a module whose default isolation is the main actor, declare its
    /// type `nonisolated` if its initializer creates the default.
    static var defaultValue: Value { get }

    /// The key: the name of the type by default. Not empty, and at most 1,024 bytes. Evaluated at each access.
    static var stringKey: String { get }

    /// Converts the value to and from its stored form; by default as ``PrefCoding`` describes.
    static var coding: PrefCoding<Value> { get }

    /// Called for each error of a read or a write of the key, on the thread of the access. Not called for errors of
    /// accesses inside it. Does nothing by default.
    static func didFail(_ error: PrefsError)
}

extension PrefKey {
    /// The name of the type: `fontSize`, without a suffix that the compiler may add (`fontSize #1`).
    public static var stringKey: String { PrefKeyName.of(Self.self) }

    /// Does nothing.
    public static func didFail(_ error: PrefsError) {}
}

// MARK: - The names of types

enum PrefKeyName {
    private static let known = Locked([ObjectIdentifier: String]())

    /// Made once of each type, because describing a type takes as long as a read of UserDefaults.
    static func of(_ type: Any.Type) -> String {
        let identifier = ObjectIdentifier(type)
        if let name = known.withLock({ $0[identifier] }) { return name }
        let name = stripped(String(describing: type))
        known.withLock { $0[identifier] = name }
        return name
    }

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
