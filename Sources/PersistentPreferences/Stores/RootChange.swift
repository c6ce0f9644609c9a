import PrefsPropertyLists

/// A write to one root: the keys that it adds or changes with their canonical new values, and the keys that it removes. Other keys
/// are neither vetted nor changed, whatever they contain.
struct RootChange {
    private(set) var assigned: [String: Any] = [:]
    /// The former values of keys that are known to change.
    private var replaced: [String: Any] = [:]
    private(set) var removed: [String] = []

    var isEmpty: Bool { assigned.isEmpty && removed.isEmpty }

    /// The difference between two states of a root, vetted.
    ///
    /// - Parameters:
    ///   - before: the root as stored, in canonical form.
    ///   - after: the caller's result.
    ///   - isAllowed: whether a key may be added or changed; nil allows all.
    /// - Throws: `PrefsError.incorrectKeys`, else `PrefsError.valuesNotPlistCompatible`, naming every offender.
    init(
        from before: [String: Any], to after: [String: Any], isAllowed: ((String) -> Bool)? = nil
    ) throws(PrefsError) {
        var disallowed: [String] = []
        var failures: [PropertyListFailure] = []
        for (key, value) in after {
            // Before the key is hashed.
            guard StreamSafeText.isSafe(key) else { throw Self.unsafe(key) }
            let old = before[key]
            if let old, CanonicalValue.areIdentical(old, value) { continue }
            switch PropertyListVetter.canonical(value, forKey: key) {
            case .success(let value):
                if let old {
                    if CanonicalValue.areEqual(old, value) { continue }
                    replaced[key] = old
                }
                assigned[key] = value
            case .failure(let refusal):
                failures += refusal.failures
            }
            if isAllowed?(key) == false { disallowed.append(key) }
        }
        if !disallowed.isEmpty { throw .incorrectKeys(invalidElements: disallowed.sorted()) }
        if !failures.isEmpty { throw .valuesNotPlistCompatible(failures) }
        for key in before.keys where after.index(forKey: key) == nil {
            removed.append(key)
        }
    }

    /// - Throws: `PrefsError.valuesNotPlistCompatible` if a key would take more than linear time to hash.
    static func checkKeys(of values: [String: Any]) throws(PrefsError) {
        for key in values.keys where !StreamSafeText.isSafe(key) { throw unsafe(key) }
    }

    private static func unsafe(_ key: String) -> PrefsError {
        let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(40)))
        return .valuesNotPlistCompatible([
            PropertyListFailure(path: start, topLevelKey: start, reason: StreamSafeText.reason)
        ])
    }

    /// The same change, which removes what else goes with the keys that it assigns or removes.
    func removing(_ others: ([String]) -> [String]) -> RootChange {
        var change = self
        change.removed += others(Array(assigned.keys) + removed)
        return change
    }

    private func isReplaced(_ old: Any, _ key: String) -> Bool {
        replaced[key].map { CanonicalValue.areIdentical($0, old) } ?? false
    }

    /// Applies the change to the root as it stands now, which may be newer than the state it was computed from.
    ///
    /// - Returns: whether the root has changed. If it has not, a missing root stays missing.
    /// - Throws: `PrefsError.valuesNotPlistCompatible` if the root would become too large.
    @discardableResult
    func apply(to root: inout [String: Any]?) throws(PrefsError) -> Bool {
        var result = root ?? [:]
        var isDifferent = false
        for key in removed where result.removeValue(forKey: key) != nil {
            isDifferent = true
        }
        for (key, value) in assigned {
            if let old = result[key], !isReplaced(old, key), CanonicalValue.areEqual(old, value) { continue }
            result[key] = value
            isDifferent = true
        }
        guard isDifferent else { return false }
        // A root that another program has made larger may still shrink.
        let bytes = assigned.isEmpty ? 0 : CanonicalValue.estimatedBytes(result)
        if bytes > PropertyListLimits.rootBytes, bytes > CanonicalValue.estimatedBytes(root ?? [:]) {
            throw .valuesNotPlistCompatible(
                assigned.keys.map {
                    PropertyListFailure(
                        path: $0, topLevelKey: $0,
                        reason: "the root would be larger than \(PropertyListLimits.rootBytes >> 20) MiB")
                })
        }
        root = result
        return true
    }
}
