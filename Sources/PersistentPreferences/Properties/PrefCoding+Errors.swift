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
}
