import PrefsPropertyLists

extension PrefCoding {
    /// - Parameters:
    ///   - mayBeWritten: whether people may have written the value, in a JSON file or a layer.
    ///   - fallback: what is stored for a value that gives the missing fields of a Codable type.
    /// - Throws: `PrefsError.typeMismatch`.
    func value(
        of stored: StoredValue, forKey key: String, mayBeWritten: @autoclosure () -> Bool = false,
        filledFrom fallback: () -> StoredValue? = { nil }
    ) throws(PrefsError) -> Value {
        do throws(ValueMismatch) {
            do throws(ValueMismatch) {
                return try decode(stored, as: .exact, filledFrom: fallback)
            } catch {
                guard mayBeWritten() else { throw error }
                return try decode(stored, as: .written, filledFrom: fallback)
            }
        } catch {
            throw .typeMismatch([error.failure(forKey: key)])
        }
    }

    private func decode(
        _ stored: StoredValue, as form: ValueForm, filledFrom fallback: () -> StoredValue?
    ) throws(ValueMismatch) -> Value {
        do {
            do {
                return try decode(stored, as: form)
            } catch {
                guard let decodeFields else { throw error }
                let (value, keys) = try decodeFields(stored, form, fallback)
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

    /// What a new value is stored as in the place of another: with the fields that the type does not know, and in the form that a person
    /// has given to an equal value.
    func replacing(
        _ stored: StoredValue, with new: StoredValue, mayBeWritten: @autoclosure () -> Bool,
        filledFrom fallback: () -> StoredValue?
    ) -> StoredValue {
        if new == stored { return stored }
        if mayBeWritten(), stored.mayBeWritten(for: new),
            let same = try? value(of: stored, forKey: "", mayBeWritten: true),
            (try? encode(same)) == new
        {
            return stored
        }
        guard let decodeFields, UnknownFields.mayBeLost(from: stored, in: new),
            let keys = try? decodeFields(stored, .written, fallback).keys
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
