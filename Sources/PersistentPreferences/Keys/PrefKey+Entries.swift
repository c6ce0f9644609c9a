import PrefsFileEngine
import PrefsPropertyLists

/// How the value of a key gets into its entry and out of it.
extension PrefKey {
    static func read(from entries: some KeyedEntries) -> Value {
        reading(from: entries).value
    }

    static func write(_ value: Value, to entries: some KeyedEntries) -> PrefsError? {
        attempt { key in
            guard let object = try coding.object(for: value, forKey: key) else {
                return try entries.setObject(nil, forKey: key)
            }
            switch PropertyListVetter.canonical(object, forKey: key) {
            case .success(let copy): try entries.setObject(copy, forKey: key)
            case .failure(let refusal): throw PrefsError.valuesNotPlistCompatible(refusal.failures)
            }
        }
    }

    static func remove(from entries: some KeyedEntries) -> PrefsError? {
        attempt { try entries.setObject(nil, forKey: $0) }
    }

    /// The value of now, or the default and why it is that.
    fileprivate static func reading(from entries: some KeyedEntries) -> (value: Value, failure: PrefsError?) {
        do {
            return (try stored(in: entries), nil)
        } catch {
            let failure = PrefsError(error)
            report(failure)
            return (defaultValue, failure)
        }
    }

    private static func stored(in entries: some KeyedEntries) throws -> Value {
        let key = stringKey
        try NameVetting.checkRoot(key)
        guard let object = try entries.object(forKey: key, report) else { return defaultValue }
        return try coding.value(of: object, forKey: key)
    }

    private static func attempt(_ write: (_ key: String) throws -> Void) -> PrefsError? {
        do {
            let key = stringKey
            try NameVetting.checkRoot(key)
            try write(key)
            return nil
        } catch {
            return refuse(PrefsError(error))
        }
    }

    /// A refusal rolls back the update that the write is part of, if any.
    @discardableResult
    fileprivate static func refuse(_ error: PrefsError) -> PrefsError {
        Transaction.current?.fail(error)
        report(error)
        return error
    }

    static func report(_ error: PrefsError) {
        Transaction.afterwards {
            FailureHandler.run(for: ObjectIdentifier(Self.self)) { didFail(error) }
        }
    }
}

/// A value on its way through a change in place.
struct InPlaceChange<Key: PrefKey> {
    var value: Key.Value
    private let failure: PrefsError?
    private let entries: any KeyedEntries

    init(of key: Key.Type, in entries: any KeyedEntries) {
        self.entries = entries
        (value, failure) = Key.reading(from: entries)
    }

    /// What could not be read is not replaced by what was made of the default.
    func commit() {
        if let failure {
            Key.refuse(failure)
        } else {
            _ = Key.write(value, to: entries)
        }
    }
}
