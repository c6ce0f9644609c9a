import Foundation
import PrefsFileEngine
package import PrefsPropertyLists

/// How the members of the class reach the store. `PersistentPrefs+Errors.swift` handles their errors.
extension PersistentPrefs {
    func start(key: String?, values: [String: Any]?, store: (any PrefsStore)?) {
        let type = type(of: self)
        guard type != PersistentPrefs.self else {
            fatalError("PersistentPrefs is an abstract class: subclass it, and create instances of the subclass")
        }
        let warning = state.start(self, key: key ?? ClassDeclarations.name(of: type), store: store)
        if let warning { report(warning) }
        defer { if let warning, state.lastError == nil { state.lastError = warning } }
        if let values, !values.isEmpty {
            mergeValues(values)
        } else {
            // As in RVS_PersistentPrefs, lastError of a new instance says whether its state can be read.
            read { _ = try $0.values() }
        }
    }

    var declarations: ClassDeclarations { state.declarations }

    /// The keys of `keys` and those of the declared properties, which an override need not repeat.
    var allowedKeys: AllowedKeys { state.allowed(keys) }

    func access(root: String) throws(PrefsError) -> PrefsAccess {
        try PrefsAccess(root: root, state: state)
    }

    // MARK: - Reading

    func visibleValues() -> [String: Any] {
        state.bridge.access(nil, of: self)
        return read { state.shown(try $0.values(), allowedKeys).objects } ?? [:]
    }

    /// Makes no objects.
    func visibleCount() -> Int {
        state.bridge.access(nil, of: self)
        return storedValues.count
    }

    func value(of name: String) -> Any? {
        state.bridge.access(name, of: self)
        return storedValue(forKey: name).map { state.object(of: $0, forKey: name) }
    }

    /// What is stored for a key, or in a layer; nil if there is nothing, if it cannot be read, or if the key is not allowed. Leaves
    /// ``lastError`` as a read does.
    package func storedValue(forKey key: String) -> StoredValue? {
        let value: StoredValue?? = read {
            guard allowedKeys.contains(key) else { throw PrefsError.incorrectKeys(invalidElements: [key]) }
            return try $0.value(forKey: key, in: $0.look())
        }
        return value ?? nil
    }

    /// The values whose objects ``values`` returns. Leaves ``lastError`` as a read does.
    package var storedValues: [String: StoredValue] { read { allowedKeys.visible(in: try $0.values()) } ?? [:] }

    func reload() {
        read {
            state.store.forget()
            guard try $0.storedValues() != nil else { throw PrefsError.noStoredPrefsForKey(key: $0.root) }
        }
    }

    // MARK: - Writing

    func move(to newKey: String) {
        do {
            try NameVetting.checkRoot(newKey)
            state.key = newKey
            state.moveSubscribers()
            report(nil)
        } catch {
            report(error)
        }
    }

    func setValue(_ value: Any?, of name: String) {
        write {
            let allowed = allowedKeys
            guard allowed.contains(name) else { throw PrefsError.incorrectKeys(invalidElements: [name]) }
            let before = try $0.valueToReplace(forKey: name, in: $0.look()).map { [name: $0] } ?? [:]
            let change = try value.map { try RootChange(from: before, shownAs: [:], to: [name: $0]) }
            try $0.commit(change ?? RootChange(from: before, to: [:]))
        }
    }

    func mergeValues(_ values: [String: Any]) {
        write { try assign(values, merging: true, in: &$0) }
    }

    typealias Shown = InstanceState.Shown

    func valuesForChange() -> InPlaceChange<RootOrigin, Shown> {
        changeInPlace(from: .nothing) { state.shown(try $0.values(), allowedKeys) }
    }

    /// The change ended by throwing: nothing is stored, and the outcome of the read is reported all the same.
    func abandonChange(from start: InPlaceChange<RootOrigin, Shown>) {
        report(start.warning ?? start.failure)
    }

    func commitChange(from start: InPlaceChange<RootOrigin, Shown>, to after: [String: Any]) {
        commit(start) { before, access in
            try access.commit(
                RootChange(
                    from: before.values, shownAs: before.objects, to: after, isAllowed: allowedKeys.contains))
        }
    }

    func replaceValues(with values: [String: Any]) {
        write { try assign(values, merging: false, in: &$0) }
    }

    /// Gives allowed keys new values in one transaction, and unless merging removes those of all others.
    func assign(_ values: [String: Any], merging: Bool, in access: inout PrefsAccess) throws {
        let allowed = allowedKeys
        try RootChange.checkKeys(of: values)
        func change(from stored: [String: StoredValue]?) throws(PrefsError) -> RootChange {
            let before = state.shown(stored, allowed)
            let after = merging ? before.objects.merging(values) { $1 } : values
            return try RootChange(
                from: before.values, shownAs: before.objects, to: after, isAllowed: allowed.contains)
        }
        guard try !change(from: access.values()).isEmpty else { return try access.acknowledge() }
        // Computed again under the lock, so that values that others have written in between are replaced, too.
        try access.commit { try change(from: $0) }
    }

    func clearValues() {
        write {
            let allowed = allowedKeys
            let others = try $0.storedValues()?.keys.filter { !allowed.contains($0) }
            guard let others, try others.isEmpty || !allowed.visible(in: $0.storedValues()).isEmpty else {
                return try $0.acknowledge()
            }
            try $0.clear(allowed)
        }
    }

    func removeRoot() {
        write {
            do {
                guard try $0.hasRoot() else { return try $0.acknowledge() }
            } catch PrefsError.rootIsNotDictionary {
                // The one way to be rid of it.
            }
            try $0.remove(allowedKeys)
        }
    }

    /// Runs a body of the user in one transaction. It returns the visible values before and after it; nil if it wrote only through other
    /// accesses.
    func transact(
        _ body: (_ stored: [String: StoredValue]?, AllowedKeys) throws -> (before: Shown, after: [String: Any])?,
        rescue: (any Error) throws -> Void
    ) rethrows -> PrefsError? {
        var thrown: (any Error)?
        let failure = write { access in
            let allowed = allowedKeys
            try access.transact { stored in
                let change: (before: Shown, after: [String: Any])?
                do {
                    change = try body(stored, allowed)
                } catch {
                    thrown = error
                    throw error
                }
                return try change.map {
                    try RootChange(
                        from: $0.before.values, shownAs: $0.before.objects, to: $0.after, isAllowed: allowed.contains)
                }
            }
        }
        if let thrown { try rescue(thrown) }
        return failure
    }
}
