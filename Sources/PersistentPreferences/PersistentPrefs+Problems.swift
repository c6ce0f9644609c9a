import PrefsPropertyLists

extension PersistentPrefs {
    /// What is stored for this instance and cannot be read, with the reasons, sorted by path: values of another type, values that violate
    /// a constraint, entries of layers, and keys that are not the class's and look like a typing error. Empty if all is well.
    ///
    /// ```swift
    /// for problem in prefs.problems() { print(problem) }  // size: expected Int, found a string
    /// ```
    ///
    /// If the file is damaged or the root cannot be read, the first one says so; its path is empty. In a JSON file, every key that is not the
    /// class's is a problem; elsewhere only one that resembles a key of the class, because other versions and other code have keys, too.
    /// The tool's `doctor` reports the same. Costs a read and the decoding of all values. Leaves ``lastError`` alone. Any thread.
    public func problems() -> [PropertyListFailure] {
        var outcome = AccessOutcome(of: state)
        let root: RootView
        let stored: [String: StoredValue]
        do {
            root = try Root(key, of: state).view(&outcome)
            _ = try root.values(&outcome)
            stored = try root.storedValues() ?? [:]
        } catch {
            return [PropertyListFailure(path: "", topLevelKey: "", reason: "\(PrefsError(error))")]
        }
        let values = stored.flatMap { key, value in problems(of: value, key, in: state.roots) }
        return (outcome.warning?.asProblems ?? []) + values.sorted { $0.path < $1.path }
    }

    private func problems(of value: StoredValue, _ key: String, in roots: Roots) -> [PropertyListFailure] {
        if let property = declarations[key]?.property {
            return property.error(of: value, forKey: key, mayBeWritten: roots.mayBeWritten)?.failures ?? []
        }
        // The line by which an editor finds the schema.
        if allowedKeys.contains(key) || declarations.schema.ownKeys.contains(key) || key == "$schema" { return [] }
        let near = NearestWord.nearest(to: key, among: allowedKeys.list)
        guard near != nil || roots.mayBeWritten else { return [] }
        let reason = "is not a key of \(className)" + (near.map { "; did you mean \"\(ShownText.key($0))\"?" } ?? "")
        return [PropertyListFailure(path: key, topLevelKey: key, reason: reason)]
    }
}

extension PrefsError {
    fileprivate var asProblems: [PropertyListFailure] {
        guard case .invalidLayer(let faults) = self else {
            return [PropertyListFailure(path: "", topLevelKey: "", reason: description)]
        }
        return faults.map { PropertyListFailure(path: $0.place, topLevelKey: "", reason: "\($0.layer): \($0.reason)") }
    }
}
