import PrefsFileEngine
import PrefsPropertyLists

/// How the value of a key gets into its entry and out of it.
extension PrefKey {
    static func read(from entries: some KeyedEntries) -> Value {
        changeInPlace(in: entries).value
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

    /// The current value, or the default and the error of the read.
    static func changeInPlace(in entries: any KeyedEntries) -> InPlaceChange<any KeyedEntries, Value> {
        do {
            return InPlaceChange(origin: entries, value: try stored(in: entries))
        } catch {
            let failure = PrefsError(error)
            report(failure)
            return InPlaceChange(origin: entries, value: defaultValue, failure: failure)
        }
    }

    static func commit(_ change: InPlaceChange<any KeyedEntries, Value>) {
        do {
            _ = write(try change.newValue(), to: change.origin)
        } catch {
            _ = refuse(error)
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
    private static func refuse(_ error: PrefsError) -> PrefsError {
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
