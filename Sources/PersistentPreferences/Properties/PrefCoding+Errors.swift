import PrefsPropertyLists

extension PrefCoding {
    /// - Parameter fallback: the object of a value that gives the missing fields of a Codable type.
    /// - Throws: `PrefsError.typeMismatch`.
    func value(of object: Any, forKey key: String, filledFrom fallback: () -> Any? = { nil }) throws(PrefsError)
        -> Value
    {
        do {
            return try decode(object, filledFrom: fallback)
        } catch {
            throw .typeMismatch(error.failure(forKey: key))
        }
    }

    func decode(_ object: Any, filledFrom fallback: () -> Any?) throws(ValueMismatch) -> Value {
        do {
            do {
                return try decode(object)
            } catch {
                guard let decodeFields else { throw error }
                let (value, keys) = try decodeFields(object, fallback)
                // Nothing of it would be read.
                guard !keys.contains(where: \.areForeign) else { throw error }
                return value
            }
        } catch {
            throw ValueMismatch(error, in: Value.self)
        }
    }

    /// The stored form of a value; nil if it cannot be stored.
    func canonical(_ value: Value) -> Any? {
        guard let object = try? encode(value) else { return nil }
        return try? PropertyListVetter.canonical(object, forKey: "").get()
    }

    /// A new object with the fields of the stored one that the type does not know. In canonical form.
    ///
    /// - Returns: nil if there are none.
    func withUnknownFields(_ new: Any, of stored: Any, filledFrom fallback: () -> Any?) -> Any? {
        guard let keys = try? decodeFields?(stored, fallback).keys, !keys.allSatisfy({ $0.unknown.isEmpty }),
            case .success(let new) = PropertyListVetter.canonical(new, forKey: "")
        else { return nil }
        return UnknownFields.preserved(in: new, from: stored, keys: keys)
    }

    /// The object to store for a value; nil if its key is to be removed.
    ///
    /// - Throws: `PrefsError.valuesNotPlistCompatible`.
    func object(for value: Value, forKey key: String) throws(PrefsError) -> Any? {
        do {
            return try encode(value)
        } catch {
            throw .valuesNotPlistCompatible([ValueMismatch(encoding: error, of: Value.self).failure(forKey: key)])
        }
    }

    /// Encodes and decodes a default that holds an object, as if it were stored and read. Stops the program if that fails.
    func copy(of value: Value) -> Value {
        do {
            guard let object = try encode(value) else { throw ValueMismatch(reason: "it encodes to nothing") }
            return try decode(PropertyListVetter.canonical(object, forKey: "default").get())
        } catch {
            fatalError("the default of a property of type \(Value.self) holds an object and cannot be copied: \(error)")
        }
    }
}
