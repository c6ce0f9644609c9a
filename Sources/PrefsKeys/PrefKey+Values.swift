public import Dispatch
public import Foundation
public import PersistentPreferences

/// The value of a key in `UserDefaults.standard` or in another `UserDefaults`: read, written, changed and observed.
extension PrefKey {
    /// The value in `UserDefaults.standard`.
    public static var value: Value {
        get { AppSettingsValues.standard[Self.self] }
        set { AppSettingsValues.standard[Self.self] = newValue }
        _modify { yield &AppSettingsValues.standard[Self.self] }
    }

    /// The value in `UserDefaults.standard`, or in another `UserDefaults`.
    public static func get(_ defaults: UserDefaults = .standard) -> Value {
        AppSettingsValues.of(defaults)[Self.self]
    }

    /// Stores a value.
    ///
    /// - Returns: the error of this write, or nil. If it is a warning (``PrefsError/isWarning``), the write has succeeded.
    @discardableResult
    public static func set(_ value: Value, _ defaults: UserDefaults = .standard) -> PrefsError? {
        AppSettingsValues.of(defaults).set(value, for: Self.self)
    }

    /// Removes the stored value, so that the default is read.
    ///
    /// - Returns: the error of this write, or nil. If it is a warning (``PrefsError/isWarning``), the write has succeeded.
    @discardableResult
    public static func reset(_ defaults: UserDefaults = .standard) -> PrefsError? {
        AppSettingsValues.of(defaults).reset(Self.self)
    }

    /// Changes the value: `fontSize.modify { $0 += 1 }`. In `UserDefaults.standard`, no other thread changes it in
    /// between; on Linux, no other process. In any other `UserDefaults`, this is a read and a write.
    ///
    /// - Parameters:
    ///   - defaults: where the value is.
    ///   - change: gets the current value. Not called if the stored value cannot be read.
    /// - Returns: the error of this call, or nil. If it is a warning (``PrefsError/isWarning``), the call has succeeded.
    /// - Throws: what the closure throws; then nothing has changed.
    @discardableResult
    public static func modify(
        in defaults: UserDefaults = .standard, _ change: (inout Value) throws -> Void
    ) rethrows -> PrefsError? {
        try AppSettingsValues.of(defaults).prefs(self).handle.modify(change)
    }

    /// Calls the closure with the old and the new value after each change, in the order of the commits. Works like
    /// ``PrefHandle/onChange(on:_:)-(DispatchQueue?,_)``, but reports errors to ``didFail(_:)``. On a `UserDefaults`
    /// other than the standard one, that is always ``PrefsError/notWatched(_:)``.
    public static func onChange(
        in defaults: UserDefaults = .standard, on queue: DispatchQueue? = nil,
        _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        AppSettingsValues.of(defaults).prefs(self).observed?.onChange(on: queue, action) ?? PrefsObservation(ending: {})
    }

    /// The current value in `UserDefaults.standard` and each new one, as an asynchronous sequence. Works like
    /// ``PrefHandle/updates``.
    public static var updates: PrefUpdates<Value> { AppSettingsValues.standard.prefs(self).handle.updates }

    /// The value in a `UserDefaults`, for changes in place: `fontSize()[defaults] += 10`.
    ///
    /// A `UserDefaults` other than the standard one is used as it is. A read finds what `object(forKey:)` finds, and
    /// `synchronize()` is called after each write. On Linux, such a write is neither atomic nor safe from other
    /// processes, their changes are seen after the next write, and it cannot be part of an `update`. A change in place
    /// starts from the value of the domain there, so it stores no argument and no registered default; on Apple
    /// platforms, these cannot be told from values of the domain. On iOS, watchOS and visionOS, a write before the
    /// first unlock of the device is not rejected.
    public subscript(defaults: UserDefaults) -> Value {
        get { Self.get(defaults) }
        nonmutating set { Self.set(newValue, defaults) }
        nonmutating _modify { yield &AppSettingsValues.of(defaults)[Self.self] }
    }
}

extension UserDefaults {
    /// The value of a key: `defaults[fontSize.self] += 10`. See ``PrefKey``.
    public subscript<Key: PrefKey>(key: Key.Type) -> Key.Value {
        get { key.get(self) }
        set { key.set(newValue, self) }
        _modify { yield &AppSettingsValues.of(self)[key] }
    }
}
