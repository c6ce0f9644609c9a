import PrefsFileEngine
import PrefsPropertyLists

/// The values that a program reads, by their keys.
extension PersistentPrefs {
    /// The value of each allowed key as the program reads it: what its store has or, for a declared property, the
    /// default.
    ///
    /// ```swift
    /// for (key, value) in prefs.effectiveValues { print(key, value) }  // also what was never stored
    /// ```
    ///
    /// A key is missing if its value is nil, or if it has neither a value nor a default. A value that does not fit its
    /// property is replaced by the default, as in a read of the property. The values are property-list objects: a
    /// Codable struct is its encoded dictionary. ``values`` has the stored values without defaults. Values of sensitive
    /// properties are not hidden.
    ///
    /// One read of the root, so all values are of one state. ``lastError`` has the first error that a read of one of the
    /// properties would have. If the root cannot be read, the result has the defaults. Costs a read and the decoding of all
    /// values. Any thread.
    public var effectiveValues: [String: Any] {
        state.bridge.access(nil, of: self)
        let keys = allowed.list
        return effective(keys, of: nil) ?? defaults(of: keys)
    }

    /// The value of one allowed key as the program reads it, as in ``effectiveValues``; nil if that has no value for the
    /// key.
    ///
    /// A key that ``allowedKeys`` does not contain is an error, as for the subscript. Costs a read and the decoding of the
    /// value. Any thread.
    public func effectiveValue(of key: String) -> Any? {
        state.bridge.access(key, of: self)
        return (effective([key], of: key) ?? defaults(of: [key]))[key]
    }

    /// - Parameter name: the only key that is read; nil for all.
    /// - Returns: nil if the root cannot be read.
    private func effective(_ keys: [String], of name: String?) -> [String: Any]? {
        var misfits: [(key: String, error: PrefsError)] = []
        var fitting: [String] = []
        var revision: Revision?
        let values: [String: Any]? = read(of: name, onlyIfAllowed: name != nil) { view, outcome in
            revision = view.revision
            var values: [String: Any] = [:]
            for key in keys {
                let stored = try view.value(forKey: key, &outcome)
                do throws(PrefsError) {
                    values[key] = try effective(stored, forKey: key, as: view.form)?.present()?.object
                    fitting.append(key)
                } catch {
                    misfits.append((key, error))
                    values[key] = defaults(of: [key])[key]
                }
            }
            return values
        }
        if PreviousStateRead.current(of: state) != nil { return values }
        for key in fitting { state.endFault(ofValue: key, at: revision) }
        // The first one is the outcome, so it is reported last.
        for (index, misfit) in misfits.enumerated().reversed() {
            let key = misfit.key
            report(misfit.error, of: index == 0 ? .read(of: key, at: revision) : .fault(of: key, at: revision))
        }
        return values
    }

    /// - Parameter form: the form that is accepted if the value does not have the exact form.
    /// - Throws: as a read of the property does.
    private func effective(
        _ stored: StoredValue?, forKey key: String, as form: ValueForm
    ) throws(PrefsError) -> StoredValue? {
        guard let property = declarations[key]?.property else { return stored }
        guard let stored else { return property.storedDefault }
        return try property.encodedRead(of: stored, forKey: key, as: form)
    }

    private func defaults(of keys: [String]) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values[key] = declarations[key]?.property.storedDefault?.present()?.object }
        return values
    }
}
