import PrefsPropertyLists

extension PrefCoding {
    /// - Parameter fallback: what is stored for a value that gives the missing fields of a Codable type.
    /// - Throws: `PrefsError.typeMismatch`.
    func value(
        of stored: StoredValue, forKey key: String, filledFrom fallback: () -> StoredValue? = { nil }
    ) throws(PrefsError) -> Value {
        do {
            return try decode(stored, filledFrom: fallback)
        } catch {
            throw .typeMismatch([error.failure(forKey: key)])
        }
    }

    func decode(_ stored: StoredValue, filledFrom fallback: () -> StoredValue?) throws(ValueMismatch) -> Value {
        do {
            do {
                return try decode(stored)
            } catch {
                guard let decodeFields else { throw error }
                let (value, keys) = try decodeFields(stored, fallback)
                // Nothing of it would be read.
                guard !keys.contains(where: \.areForeign) else { throw error }
                return value
            }
        } catch {
            throw ValueMismatch(error, in: Value.self)
        }
    }

    /// What is stored for a value; nil if it cannot be stored.
    func vetted(_ value: Value) -> StoredValue? {
        guard let stored = try? encode(value), (try? PropertyListVetter.check(stored, forKey: "")) != nil else {
            return nil
        }
        return stored
    }

    /// The new value with the fields of the stored one that the type does not know.
    func withUnknownFields(
        _ new: StoredValue, of stored: StoredValue, filledFrom fallback: () -> StoredValue?
    ) -> StoredValue {
        guard let decodeFields, UnknownFields.mayBeLost(from: stored, in: new),
            let keys = try? decodeFields(stored, fallback).keys
        else { return new }
        return UnknownFields.preserved(in: new, from: stored, keys: keys)
    }

    /// A value whose objects nobody else can change; the value itself if it cannot be stored.
    static func ownCopy(of value: Value) -> Value where Value: _PrefAnyValues {
        let coding = PrefCoding(rule: Value.self)
        guard let stored = try? coding.encode(value), let copy = try? coding.decode(stored) else { return value }
        return copy
    }

    /// What is to be stored for a value; nil if its key is to be removed.
    ///
    /// - Throws: `PrefsError.valuesNotPlistCompatible`.
    func stored(for value: Value, forKey key: String) throws(PrefsError) -> StoredValue? {
        do {
            return try encode(value)
        } catch let refusal as PropertyListVetter.Refusal {
            throw .valuesNotPlistCompatible(
                refusal.failures.map {
                    PropertyListFailure(path: key + $0.path, topLevelKey: key, reason: $0.reason)
                })
        } catch {
            throw .valuesNotPlistCompatible([ValueMismatch(encoding: error, of: Value.self).failure(forKey: key)])
        }
    }
}
