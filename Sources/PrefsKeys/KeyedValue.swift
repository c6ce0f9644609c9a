import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The declaration of a key and its value: a `PrefKey` type, or an `AppSetting` with its own key.
protocol KeyedValue<Value> {
    associatedtype Value

    var stringKey: String { get }
    var defaultValue: Value { get }
    var coding: PrefCoding<Value> { get }
    /// Distinguishes the error handler of this key from the handlers of other keys.
    var identifier: ObjectIdentifier { get }
    func didFail(_ error: PrefsError)
}

/// A `PrefKey` type as a value.
struct TypedKey<Key: PrefKey>: KeyedValue {
    var stringKey: String { Key.stringKey }
    var defaultValue: Key.Value { Key.defaultValue }
    var coding: PrefCoding<Key.Value> { Key.coding }
    var identifier: ObjectIdentifier { ObjectIdentifier(Key.self) }
    func didFail(_ error: PrefsError) { Key.didFail(error) }
}

/// Reads and writes the value of a key.
extension KeyedValue {
    /// The current value. If it cannot be read, reports the reason and returns the default.
    func read(from entries: KeyedEntries) -> Value {
        do {
            return try value(in: entries)
        } catch {
            report(PrefsError(error))
            return defaultValue
        }
    }

    func write(_ value: Value, to entries: KeyedEntries) -> PrefsError? {
        attempt(in: entries) { try store(value, in: entries, forKey: $0) }
    }

    private func store(_ value: Value, in entries: KeyedEntries, forKey key: String) throws {
        let new = try coding.stored(for: value, forKey: key)
        do throws(PropertyListVetter.Refusal) {
            if let new { try PropertyListVetter.check(new, forKey: key) }
        } catch {
            throw PrefsError.valuesNotPlistCompatible(error.failures)
        }
        let form = entries.form
        guard let new, coding.decodeFields != nil || form != .exact else {
            return try entries.setValue(new, forKey: key)
        }
        try entries.transact(forKey: key) {
            let stored = try entries.value(forKey: key, isForWriting: true) { _ in }
            let whole = stored.map {
                coding.replacing($0, with: new, writtenAs: form, filledFrom: encodedDefault)
            }
            try entries.setValue(whole ?? new, forKey: key)
        }
    }

    /// The stored form of the default, for the fields that a stored value lacks.
    private func encodedDefault() -> StoredValue? { coding.vetted(defaultValue) }

    func remove(from entries: KeyedEntries) -> PrefsError? {
        attempt(in: entries) { try entries.setValue(nil, forKey: $0) }
    }

    /// The value to change. If it cannot be read, reports the reason and returns the default with it.
    func changeInPlace(in entries: KeyedEntries) -> InPlaceChange<KeyedEntries, Value> {
        do {
            return InPlaceChange(origin: entries, value: try value(in: entries, isForWriting: true))
        } catch {
            let failure = PrefsError(error)
            report(failure)
            return InPlaceChange(origin: entries, value: defaultValue, failure: failure)
        }
    }

    func commit(_ change: InPlaceChange<KeyedEntries, Value>) {
        guard let failure = change.failure else {
            _ = write(change.value, to: change.origin)
            return
        }
        // The read has reported the failure.
        Transaction.current?.fail(failure)
    }

    /// Changes the value in a transaction.
    func modify(in entries: KeyedEntries, _ change: (inout Value) throws -> Void) rethrows -> PrefsError? {
        try modify(in: entries, change) { throw $0 }
    }

    private func modify(
        in entries: KeyedEntries, _ change: (inout Value) throws -> Void, rescue: (any Error) throws -> Void
    ) rethrows -> PrefsError? {
        var thrown: (any Error)?
        let failure = attempt(in: entries) { key in
            try entries.transact(forKey: key) {
                var new = try value(in: entries, isForWriting: true)
                do {
                    try change(&new)
                } catch {
                    thrown = error
                    throw error
                }
                try store(new, in: entries, forKey: key)
            }
        }
        if let thrown { try rescue(thrown) }
        return failure
    }

    private func value(in entries: KeyedEntries, isForWriting: Bool = false) throws -> Value {
        let key = stringKey
        try NameVetting.checkRoot(key)
        guard let stored = try entries.value(forKey: key, isForWriting: isForWriting, report) else {
            return defaultValue
        }
        return try coding.value(
            of: stored, forKey: key, orAs: entries.form, filledFrom: encodedDefault)
    }

    private func attempt(in entries: KeyedEntries, _ write: (_ key: String) throws -> Void) -> PrefsError? {
        do {
            let key = stringKey
            try NameVetting.checkRoot(key)
            try write(key)
            if let warning = entries.takeWarning() { report(warning) }
            return nil
        } catch {
            // A rejection rolls back the update that the write is part of, if any.
            let error = PrefsError(error)
            Transaction.current?.fail(error)
            report(error)
            return error
        }
    }

    func report(_ error: PrefsError) {
        Transaction.afterwards {
            FailureHandler.run(for: identifier) { didFail(error) }
        }
    }
}
