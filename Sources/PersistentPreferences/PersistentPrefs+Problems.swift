import PrefsPropertyLists

extension PersistentPrefs {
    /// Returns the stored values of this instance that cannot be read, with the reasons. Faults of the file and of
    /// layers come first, with variables and arguments that no key has or that are ignored. Then follow, sorted by path,
    /// values of another type, values that violate a constraint, and keys that resemble a key of the class. The result is
    /// empty if there are no problems.
    ///
    /// ```swift
    /// for problem in prefs.problems() { print(problem) }  // size: expected Int, found a string
    /// ```
    ///
    /// A fault of the file has an empty path. If the root cannot be read, that is the only problem. In a file that people
    /// write, every key that the class does not allow is a problem, and an older or missing version if a write would
    /// migrate the file. In other formats, only a key that resembles a key of the class is one, because other versions
    /// and other code have keys, too. The tool's `doctor` reports the same problems. Costs a read and the decoding of all values.
    /// While another program is saving the file, waits for the end of that, a second at most. Does not change
    /// ``lastError``. Any thread.
    public func problems() -> [PropertyListFailure] {
        var outcome = AccessOutcome(of: state, isSilent: true)
        let root: RootView
        let stored: [String: StoredValue]
        do {
            let location = try Root(key, of: state)
            if let warning = location.roots.domain?.waitForSave() { outcome.note(PrefsError(warning)) }
            root = try location.view(&outcome)
            _ = try root.values(&outcome)
            stored = try root.storedValues() ?? [:]
        } catch {
            return [PropertyListFailure(path: "", topLevelKey: "", reason: "\(PrefsError(error))")]
        }
        let values = stored.flatMap { key, value in problems(of: value, key, as: root.form) }
        var faults: [PropertyListFailure] = []
        let notes = root.layers?.notes(forKeys: allowedKeys.list, in: declarations) ?? []
        for fault in (outcome.noted ?? []).flatMap(\.asProblems) + notes.map(\.asProblem) where !faults.contains(fault)
        {
            faults.append(fault)
        }
        return faults + (values + problemOfVersion(root)).sorted(byText: \.path)
    }

    /// In a file that people write: what a write would change, because the version is older or missing.
    private func problemOfVersion(_ root: RootView) -> [PropertyListFailure] {
        let schema = declarations.schema
        guard root.form != .exact, let stored = try? root.dictionary(), let current = try? root.storedValues(),
            let reason = schema.flawOfVersion(stored, current: current)
        else { return [] }
        return [PropertyListFailure(path: schema.versionKey, topLevelKey: schema.versionKey, reason: reason)]
    }

    private func problems(of value: StoredValue, _ key: String, as form: ValueForm) -> [PropertyListFailure] {
        if let property = declarations[key]?.property {
            return property.error(of: value, forKey: key, as: form)?.failures ?? []
        }
        let isKnown = allowedKeys.contains(key) || declarations.schema.ownKeys.contains(key)
        if isKnown || form.others?.isKeyOfTools(key) == true { return [] }
        let near = NearestWord.nearest(to: key, among: allowedKeys.list)
        guard near != nil || form != .exact else { return [] }
        let reason = "is not a key of \(className)" + (near.map { "; did you mean \"\(ShownText.key($0))\"?" } ?? "")
        return [PropertyListFailure(path: key, topLevelKey: key, reason: reason)]
    }
}

extension PrefsError {
    fileprivate var asProblems: [PropertyListFailure] {
        guard case .invalidLayer(let faults) = self else {
            return [PropertyListFailure(path: "", topLevelKey: "", reason: description)]
        }
        return faults.map(\.asProblem)
    }
}

extension LayerFault {
    fileprivate var asProblem: PropertyListFailure {
        PropertyListFailure(path: place, topLevelKey: "", reason: "\(layer): \(reason)")
    }
}
