import PersistentPreferences
import PrefsPropertyLists

/// A root between layers, as a class sees it: a value of a layer above wins over the stored one, and one of a layer below is read if
/// nothing is stored, or if the stored value does not fit.
extension LayersSnapshot {
    func around(_ key: String, of root: String, in declarations: ClassDeclarations) -> LayersOfKey {
        self.key(key, of: root, in: declarations).summary
    }

    private func layered(_ key: String, over base: any StoredRoot) -> LayeredKey {
        self.key(key, of: base.rootKey, in: base.declarations)
    }

    func value(
        forKey key: String, over base: any StoredRoot, _ outcome: inout AccessOutcome
    ) -> (value: StoredValue?, hasFaults: Bool) {
        let layered = layered(key, over: base)
        outcome.note(layered.faults)
        if let above = layered.above { return (above.value, !layered.faults.isEmpty) }
        var stored: (value: StoredValue, raw: StoredValue?)?
        do throws(PrefsError) {
            if let value = try base.storedValue(forKey: key) {
                if let error = layered.mismatch(of: value) { throw error }
                stored = (value, layered.isMerged ? try base.raw(key) : nil)
            }
        } catch {
            outcome.passOverBase(error)
        }
        let (value, left) = layered.merged(over: stored?.value, writtenAs: stored?.raw)
        outcome.note(left)
        return (value, !layered.faults.isEmpty || !left.isEmpty)
    }

    func value(ofCovered key: String, over base: any StoredRoot) throws(PrefsError) -> StoredValue? {
        let layered = layered(key, over: base)
        if let above = layered.above { return above.value }
        return try layered.value(over: base.storedValue(forKey: key), writtenAs: base.raw(key)).value
    }

    func values(
        ofKeys keys: [String], over base: any StoredRoot, _ stored: [String: StoredValue]?
    ) throws(PrefsError) -> (values: [String: StoredValue]?, faults: [PrefsProblem]) {
        var values = stored
        var faults: [PrefsProblem] = []
        for key in keys where StreamSafeText.isSafe(key) {
            let layered = layered(key, over: base)
            // A key may be in the list twice: declared and in an override of `allowedKeys`.
            faults += layered.faults.filter { !faults.contains($0) }
            let own = base.declarations.value(stored?[key], ofKey: key)
            let (merged, left) = try layered.value(over: own, writtenAs: base.raw(key))
            faults += left
            guard let value = merged else { continue }
            values = values ?? [:]
            values?[key] = value
        }
        return (values, faults)
    }

    func source(
        ofField field: [String], ofKey key: String, over base: any StoredRoot, _ part: StoredValue?
    ) -> PrefSource {
        layered(key, over: base).source(ofField: field, over: part)
    }

    // MARK: - What a person should know

    func notes(
        forKeys keys: [String], of root: String, in declarations: ClassDeclarations,
        _ flaw: (_ key: String, ValueForm) -> String?
    ) -> [PrefsProblem] {
        notes(forKeys: keys, in: declarations)
            + (above + below).flatMap { problems(of: $0, root, in: declarations, flaw) }
    }

    /// The keys of a file that the class does not have, and a note if a newer version of the class has written the file.
    private func problems(
        of state: LayerState, _ root: String, in declarations: ClassDeclarations,
        _ flaw: (_ key: String, ValueForm) -> String?
    ) -> [PrefsProblem] {
        guard case .file(let reading, _) = state.entries else { return [] }
        func place(_ key: String) -> String { "\(key) in \(reading.path)" }
        let versioned = state.versioned(root, for: declarations)
        let version = versioned?.newerVersion.map {
            PrefsProblem(.version, in: .layer(state.name), path: place(declarations.schema.versionKey), reason: $0)
        }
        let values = versioned?.values ?? state.entries.values(of: root)
        let keys = values.keys.sorted(byText: \.self).compactMap { key in
            flaw(key, reading.format.form).map {
                PrefsProblem(layer: state.name, place: place(key), reason: $0, kind: .unknownKey)
            }
        }
        return (version.map { [$0] } ?? []) + keys
    }
}
