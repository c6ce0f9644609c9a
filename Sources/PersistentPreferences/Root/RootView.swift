import PrefsFileEngine
import PrefsPropertyLists

/// A root at one moment, with the layers around it, as one class sees it.
struct RootView: StoredRoot {
    /// The root key.
    let rootKey: String
    let instance: RootInstance
    /// The stored entry, in any shape; nil if nothing is stored.
    private(set) var entry: StoredValue?
    /// The former root key under which the entry is stored; nil if it is stored under the current one.
    private(set) var formerKey: String?
    /// Whether the entry has all values of the root, and is the current one.
    let hasAllValues: Bool
    /// Whether it is the state of the thread's update, with its changes so far.
    let isOfUpdate: Bool
    /// nil if only a comparison shows whether two states are equal.
    private(set) var revision: Revision?
    /// See `DomainState.durability`.
    private(set) var durability: CommitDurability
    let layers: (any RootLayersSnapshot)?
    /// Why the entry cannot be read. The layers are still read.
    let failure: PrefsError?
    /// The accepted form of the entry's values, which people may have written.
    let form: ValueForm

    init(
        of rootKey: String, _ instance: RootInstance, _ entry: StoredValue?, hasAllValues: Bool = true,
        isOfUpdate: Bool = false, revision: Revision? = nil,
        durability: CommitDurability = .powerCut, in layers: (any RootLayersSnapshot)?, failure: PrefsError? = nil,
        form: ValueForm = .exact
    ) {
        self.form = form
        (self.rootKey, self.instance) = (rootKey, instance)
        self.entry = entry
        self.hasAllValues = hasAllValues
        self.isOfUpdate = isOfUpdate
        self.revision = revision
        self.durability = durability
        self.layers = layers
        self.failure = failure
    }

    var declarations: ClassDeclarations { instance.declarations }
    var schema: RootSchema { declarations.schema }

    /// Returns this view with the entry of a second read, whose revision is unknown.
    func replacingEntry(
        _ entry: StoredValue?, under formerKey: String?, _ durability: CommitDurability
    ) -> RootView {
        var view = self
        (view.entry, view.formerKey, view.revision) = (entry, formerKey, nil)
        view.durability = min(self.durability, durability)
        return view
    }

    // MARK: - What is stored

    /// The stored dictionary, in its own shape; nil if it is missing.
    ///
    /// - Throws: `PrefsError.rootIsNotDictionary`, or the reason why it cannot be read.
    func dictionary() throws(PrefsError) -> [String: StoredValue]? {
        if let failure { throw failure }
        guard let entry else { return nil }
        guard case .dictionary(let values) = entry else { throw .rootIsNotDictionary(key: rootKey) }
        return values
    }

    /// This view, without an entry that is no dictionary. The assignment of all values replaces such an entry.
    var replaceable: RootView {
        var view = self
        if case .dictionary? = entry {} else { view.entry = nil }
        return view
    }

    /// The stored values, in the current shape; nil if nothing is stored.
    func storedValues() throws(PrefsError) -> [String: StoredValue]? { try shape()?.current }

    private func shape() throws(PrefsError) -> RootShape? {
        guard let stored = try dictionary() else { return nil }
        return hasAllValues
            ? try instance.shape(of: stored, root: rootKey, as: form)
            : try instance.declarations.shape(of: stored, root: rootKey, as: form)
    }

    /// The values as they are stored: in a file that people write, each part that has not changed stays as it was
    /// written.
    ///
    /// - Parameter change: the change that has led to the values.
    func written(
        _ values: [String: StoredValue], after change: RootChange = .nothing
    ) throws(PrefsError) -> [String: StoredValue] {
        guard form != .exact else { return values }
        let shape = try shape()
        var written = values
        for (key, value) in values {
            let raw = shape?.migrated[key]
            var before = shape?.current[key]
            if change.assigned[key] != nil { before = try fieldsWritten(of: before, forKey: key, as: raw) }
            let new = self.written(value, forKey: key, over: raw, from: before)
            // Most values are stored as they are written.
            if new != value { written[key] = new }
        }
        return written
    }

    /// - Parameters:
    ///   - raw: the value as it is stored; nil if there is none.
    ///   - before: the stored value in the form of its property.
    private func written(
        _ value: StoredValue, forKey key: String, over raw: StoredValue?, from before: StoredValue?
    ) -> StoredValue {
        guard let property = instance.declarations[key]?.property else {
            return form.written(value, over: raw, from: before, isRead: nil)
        }
        return property.written(value, forKey: key, over: raw, from: before, form)
    }

    /// As `written(_:)`, of a change in a root that needs no migration.
    func written(_ change: RootChange) throws(PrefsError) -> RootChange {
        let stored = try dictionary()
        if form == .exact { return change }
        return change.mapAssigned { key, value in
            let raw = stored?[key]
            let before = raw.map { instance.canonical($0, forKey: key, as: form) }
            let fields = (try? fieldsWritten(of: before, forKey: key, as: raw)) ?? before
            return written(value, forKey: key, over: raw, from: fields)
        }
    }

    /// The fields of a merged value that its file has: what a write is compared with. A read gives the value the defaults of
    /// the others, but a layer may have them, so a write of a default has to store it.
    func fieldsWritten(
        of value: StoredValue?, forKey key: String, as raw: @autoclosure () throws(PrefsError) -> StoredValue?
    ) throws(PrefsError) -> StoredValue? {
        guard layers != nil, form != .exact, let value, let sections = declarations[key]?.property.sectionFields,
            let raw = try raw()
        else { return value }
        return sections.part(of: value, writtenAs: raw)
    }

    /// The stored value of a key; nil if there is none. A null is a value only of an optional.
    func storedValue(forKey key: String) throws(PrefsError) -> StoredValue? {
        instance.declarations.value(try stored(key), ofKey: key)
    }

    /// The stored value of a key, in the current shape; nil if there is none.
    func stored(_ key: String) throws(PrefsError) -> StoredValue? {
        if schema.isTrivial {
            if form == .exact { return try dictionary()?[key] }
            // The other values are not needed, unless the instance keeps them. An update may have thousands of writes, and
            // each has a state of its own.
            if isOfUpdate || !hasAllValues {
                return try dictionary()?[key].map { instance.canonical($0, forKey: key, as: form) }
            }
        }
        return try storedValues()?[key]
    }

    /// The stored values of some keys, in the current shape.
    func stored(_ keys: some Sequence<String>) throws(PrefsError) -> [String: StoredValue] {
        var values: [String: StoredValue] = [:]
        for key in keys { values[key] = try stored(key) }
        return values
    }

    // MARK: - Between the layers

    /// All values, including values of layers; nil if there are no values.
    ///
    /// - Parameter allowed: the keys to look for in layers; nil for the keys of the instance.
    func values(allowed: AllowedKeys? = nil, _ outcome: inout AccessOutcome) throws(PrefsError) -> [String:
        StoredValue]?
    {
        guard let layers else { return try storedValues() }
        var stored: [String: StoredValue]?
        do throws(PrefsError) {
            stored = try storedValues()
        } catch {
            outcome.passOverBase(error)
        }
        let (values, faults) = try layers.values(ofKeys: keys(allowed), over: self, stored)
        outcome.note(faults)
        return values
    }

    /// All values, for a write. Reports no faults of layers.
    func values() throws(PrefsError) -> [String: StoredValue]? {
        let stored = try storedValues()
        guard let layers else { return stored }
        return try layers.values(ofKeys: keys(nil), over: self, stored).values
    }

    private func keys(_ allowed: AllowedKeys?) -> [String] {
        (allowed ?? instance.owner?.allowed ?? instance.declarations.allowed).list
    }

    /// The value of a key in a layer or in the store.
    func value(forKey key: String, _ outcome: inout AccessOutcome) throws(PrefsError) -> StoredValue? {
        guard let layers else { return try storedValue(forKey: key) }
        return layers.value(forKey: key, over: self, &outcome).value
    }

    /// What layers have around a key; nil without layers.
    func around(_ key: String) -> LayersOfKey? { layers?.around(key, of: rootKey, in: declarations) }

    /// The stored value of a key as it was written; nil if there is none.
    func raw(_ key: String) throws(PrefsError) -> StoredValue? {
        // The form that properties store has no others.
        form == .exact ? try stored(key) : try shape()?.migrated[key]
    }

    /// The value of a key, for a property that caches it until the state changes.
    func lookUp(forKey key: String, _ outcome: inout AccessOutcome) throws(PrefsError) -> ReadResult {
        guard let layers else {
            return ReadResult(value: try storedValue(forKey: key), revision: revision, root: rootKey, form: form)
        }
        let (value, hasFaults) = layers.value(forKey: key, over: self, &outcome)
        // A fault is reported at each read, so the value is not cached.
        let isReported = outcome.hasPassedOverBase || hasFaults
        return ReadResult(value: value, revision: isReported ? nil : revision, root: rootKey, form: form)
    }

    func source(ofKey key: String, _ outcome: inout AccessOutcome) throws(PrefsError) -> PrefSource {
        let around = around(key)
        // The layers are read even if the stored value is unreadable.
        if let cover = around?.cover { return .layer(cover.layer) }
        do throws(PrefsError) {
            if let stored = try storedValues()?[key], declarations[key]?.property.error(of: stored, forKey: key) == nil
            {
                return .stored
            }
        } catch {
            if around == nil { throw error }
            outcome.passOverBase(error)
        }
        return around?.below.map(PrefSource.layer) ?? .default
    }

    /// The fields of a merged value that are stored; nil if there are none, or if the stored value does not fit.
    func storedPart(
        ofKey key: String, _ property: any DeclaredProperty, _ sections: SectionFields
    ) throws(PrefsError) -> StoredValue? {
        guard let stored = try storedValue(forKey: key), property.error(of: stored, forKey: key) == nil else {
            return nil
        }
        return sections.part(of: stored, writtenAs: try raw(key) ?? stored)
    }

    /// Where a field of a merged value comes from.
    func source(ofKey key: String, field: [String]) throws(PrefsError) -> PrefSource {
        guard let property = declarations[key]?.property, let sections = property.sectionFields else { return .default }
        let part = try storedPart(ofKey: key, property, sections)
        if let layers { return layers.source(ofField: field, ofKey: key, over: self, part) }
        return SectionFields.has(field, in: part) ? .stored : .default
    }
}
