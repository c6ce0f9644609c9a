import PrefsPropertyLists

extension PrefCoding {
    /// - Parameters:
    ///   - form: the form that is accepted if the value does not have the exact form.
    ///   - fallback: a stored value that gives the missing fields of a Codable type.
    /// - Throws: `PrefsError.typeMismatch`.
    package func value(
        of stored: StoredValue, forKey key: String, orAs form: ValueForm = .exact,
        filledFrom fallback: () -> StoredValue? = { nil }
    ) throws(PrefsError) -> Value {
        do throws(ValueMismatch) {
            do throws(ValueMismatch) {
                return try decode(stored, as: .exact, filledFrom: fallback)
            } catch {
                guard form != .exact else { throw error }
                return try decode(stored, as: form, filledFrom: fallback)
            }
        } catch {
            throw .typeMismatch([error.failure(forKey: key)])
        }
    }

    /// - Throws: `PrefsError.typeMismatch`.
    package func value(
        of stored: StoredValue, forKey key: String, as form: ValueForm, filledFrom fallback: () -> StoredValue?
    ) throws(PrefsError) -> Value {
        do {
            return try decode(stored, as: form, filledFrom: fallback)
        } catch {
            throw .typeMismatch([error.failure(forKey: key)])
        }
    }

    private func decode(
        _ stored: StoredValue, as form: ValueForm, filledFrom fallback: () -> StoredValue?
    ) throws(ValueMismatch) -> Value {
        // A null is no value, also for a coding of closures.
        if stored.isNull, let none = (Value.self as? any OptionalValue.Type)?.noValue as? Value { return none }
        do {
            do {
                return try decode(stored, as: form)
            } catch {
                guard let decodeFields else { throw error }
                let (value, keys) = try decodeFields(stored, form) { fallback().map(form.raw) }
                // The type knows no field of the value.
                guard !keys.contains(where: \.areForeign) else { throw error }
                return value
            }
        } catch {
            throw ValueMismatch(error, in: Value.self)
        }
    }

    /// The stored form of a value; nil if it cannot be stored.
    package func vetted(_ value: Value) -> StoredValue? {
        guard let stored = try? encode(value), (try? PropertyListVetter.check(stored)) != nil else {
            return nil
        }
        return stored
    }

    /// The new value with the fields of the stored one that the type does not know.
    func withUnknownFields(
        _ new: StoredValue, of stored: StoredValue, as form: ValueForm, filledFrom fallback: () -> StoredValue?
    ) -> StoredValue {
        guard let decodeFields, UnknownFields.mayBeLost(from: stored, in: new),
            let keys = try? decodeFields(stored, form, { fallback().map(form.raw) }).keys
        else { return new }
        return UnknownFields.preserved(in: new, from: stored, keys: keys)
    }

    /// A copy whose objects no other code can change; the value itself if it cannot be stored.
    package static func ownCopy(of value: Value) -> Value where Value: _PrefAnyValues {
        let coding = PrefCoding(rule: Value.self)
        guard let stored = try? coding.encode(value), let copy = try? coding.decode(stored) else { return value }
        return copy
    }

    /// The value to store; nil if its key is to be removed.
    ///
    /// - Throws: `PrefsError.valuesNotPlistCompatible`.
    package func stored(for value: Value, forKey key: String) throws(PrefsError) -> StoredValue? {
        do {
            return try encode(value)
        } catch {
            throw .valuesNotPlistCompatible(ValueMismatch(encoding: error, of: Value.self).failures(forKey: key))
        }
    }
}
