import PrefsFileEngine
import PrefsPropertyLists

/// One root of a domain, as one class sees it.
///
/// Reads the overridable `key` and the store once, so that an access never mixes two stores, even if a test begins or
/// ends at that moment.
struct Root {
    let key: String
    let roots: Roots
    let instance: RootInstance

    // A call would cost each write 30 instructions.
    /// - Throws: `PrefsError.invalidName`.
    @inline(__always)
    init(_ key: String, of instance: RootInstance) throws(PrefsError) {
        try NameVetting.checkRoot(key)
        self.key = key
        self.instance = instance
        roots = instance.roots
    }

    var schema: RootSchema { instance.declarations.schema }

    // MARK: - Reading

    /// The current state.
    ///
    /// - Parameters:
    ///   - name: the key of the only value that is needed; nil for all.
    ///   - isForWriting: whether a write depends on the state.
    func view(
        of name: String? = nil, isForWriting: Bool = false, _ outcome: inout AccessOutcome
    ) throws -> RootView {
        let found: DomainState
        do {
            found = try domainState(name, isForWriting)
        } catch {
            guard roots.layers != nil else { throw error }
            // The layers go on working.
            let error = PrefsError(error)
            outcome.passOverBase(error)
            return view(RootView(of: key, instance, nil, in: roots.currentLayers(), failure: error), &outcome)
        }
        if let warning = found.warning { outcome.note(PrefsError(warning)) }
        let layers = roots.layers == nil ? nil : roots.currentLayers(mayBeInside: found.isOfUpdate)
        let view = RootView(
            of: key, instance, roots.layout.entry(of: key, in: found.content),
            hasAllValues: found.hasAllEntries || roots.layout != .flat, isOfUpdate: found.isOfUpdate,
            revision: layers == nil ? found.revision : roots.revision(found.revision, in: layers),
            durability: found.durability, in: layers,
            form: found.format.form)
        if layers == nil, !instance.hasFormerRoots { return view }
        return try formerView(insteadOf: self.view(view, &outcome), isForWriting)
    }

    private func view(_ view: RootView, _ outcome: inout AccessOutcome) -> RootView {
        if let layers = view.layers { outcome.note(layers.faults(of: key)) }
        return view
    }

    private func domainState(_ name: String?, _ isForWriting: Bool) throws -> DomainState {
        guard roots.layout == .flat else { return try roots.state(of: .root(key), isForWriting: isForWriting) }
        guard let name else { return try roots.state(of: .everything, isForWriting: isForWriting) }
        let state = try roots.state(of: .entries(schema.keysNeeded(for: name)), isForWriting: isForWriting)
        // A migration needs all values.
        if state.hasAllEntries || schema.hasVersion(state.content ?? [:]) { return state }
        return try roots.state(of: .everything, isForWriting: isForWriting)
    }

    /// The view of a state that an observer has received.
    func view(of entry: EntryState) -> RootView {
        let around = entry.layers
        return RootView(
            of: around?.root ?? key, instance, entry.value, hasAllValues: false, in: around?.layers,
            form: roots.form)
    }

    /// The view of the root under a former root key, if the root itself is missing.
    private func formerView(insteadOf view: RootView, _ isForWriting: Bool) throws -> RootView {
        let formerKeys = instance.declarations.formerRoots(of: key)
        if formerKeys.isEmpty || roots.layout == .flat || view.failure != nil { return view }
        guard view.entry == nil else { return view }
        for formerKey in formerKeys {
            let found = try roots.state(of: .root(formerKey), isForWriting: isForWriting)
            if let values = found.content?[formerKey]?.dictionary {
                return view.replacingEntry(.dictionary(values), under: formerKey, found.durability)
            }
        }
        // Another process may have moved it between the two looks.
        let again = try roots.state(of: .root(key), isForWriting: isForWriting)
        return view.replacingEntry(roots.layout.entry(of: key, in: again.content), under: nil, again.durability)
    }

    /// The values under a former root key; nil if they are missing. An entry of another type belongs to another
    /// program.
    func values(ofFormer formerKey: String, _ isForWriting: Bool = true) throws -> [String: StoredValue]? {
        try roots.state(of: .root(formerKey), isForWriting: isForWriting).content?[formerKey]?.dictionary
    }

    /// The state in a transaction of this root.
    func view(in transaction: Transaction) throws -> RootView {
        let view = RootView(
            of: key, instance, roots.layout.entry(of: key, in: transaction.content), isOfUpdate: true,
            in: roots.layers == nil ? nil : roots.currentLayers(), form: transaction.session?.format.form ?? .exact)
        return instance.hasFormerRoots && view.entry == nil ? try formerView(insteadOf: view, true) : view
    }
}
