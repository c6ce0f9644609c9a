import PrefsPropertyLists

extension PrefCoding {
    /// - Throws: `PrefsError.typeMismatch`.
    func value(of object: Any, forKey key: String) throws(PrefsError) -> Value {
        do {
            return try decode(object)
        } catch {
            throw .typeMismatch(ValueMismatch(error, in: Value.self).failure(forKey: key))
        }
    }

    /// What to store for a value; nil where its key is to be removed.
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
