package import PrefsFileEngine
package import PrefsPropertyLists

/// The layers around the roots of a domain: values that win over the stored ones, and values that are read if nothing
/// is stored. A store with layers implements it.
package protocol RootLayers: AnyObject, Sendable {
    /// The current state of all layers. Two different objects are different states.
    func current() -> any RootLayersSnapshot
    /// Drops the caches.
    func forget()
    /// Subscribes to a part of a domain, and to the layers around the root in it.
    func subscribe(
        to part: DomainPart, root: String, of roots: Roots, _ subscriber: any EntrySubscriber,
        from known: LastKnownEntry?
    ) throws -> EntrySubscription
}

/// The layers around the roots of a domain at one moment.
package protocol RootLayersSnapshot: AnyObject, Sendable {
    /// nil if entries may change while this object is the current one.
    var revision: Revision? { get }
    /// The faults of layers as a whole.
    func faults(of root: String) -> [PrefsProblem]
    /// The values above and below a key of a class.
    func key(_ key: String, of root: String, in declarations: ClassDeclarations) -> LayeredKey
    /// Whether the values of a key are hidden, because a layer of secrets has the key, or had it before.
    func isSensitive(_ key: String, of root: String, in declarations: ClassDeclarations) -> Bool
    /// What a person should know beside the faults: entries that are ignored, and names that no key has.
    ///
    /// - Parameter keys: all keys of an instance.
    func notes(forKeys keys: [String], in declarations: ClassDeclarations) -> [PrefsProblem]
    /// The entries of a root in each file of a layer, as a class sees them.
    func fileEntries(of root: String, in declarations: ClassDeclarations) -> [LayerFileEntries]
    /// How people set a key: `; set --size or APP_SIZE`. Empty without layers of text.
    func howToSet(_ key: String, in declarations: ClassDeclarations) -> String
    /// A root between the layers that need no type of a property; nil if neither has values.
    func merged(_ stored: [String: StoredValue]?, root: String) -> [String: StoredValue]?
    /// Lets a user change the objects of a root between its layers. Changed values are vetted and stored.
    ///
    /// - Throws: `PrefsError.coveredByLayer`.
    func change(
        _ stored: inout [String: StoredValue]?, root: String, _ body: (inout [String: Any]?) throws -> Void
    ) throws
}

/// The entries of a root in the file of a layer, as a class sees them.
package struct LayerFileEntries: Sendable {
    let layer: String
    let path: String
    let form: ValueForm
    /// The keys after a migration. Empty if it has failed.
    let keys: [String]
    /// That a newer version of the class has written the root; nil if none has.
    let newerVersion: String?

    package init(layer: String, path: String, form: ValueForm, keys: [String], newerVersion: String?) {
        (self.layer, self.path, self.form) = (layer, path, form)
        (self.keys, self.newerVersion) = (keys, newerVersion)
    }
}

/// The layers around a root, as a part of the entry that subscribers receive.
package final class LayersOfRoot: EntryContext {
    package let layers: any RootLayersSnapshot
    package let root: String

    package init(_ layers: any RootLayersSnapshot, of root: String) {
        (self.layers, self.root) = (layers, root)
    }
}

extension EntryState {
    /// The layers around the root; nil for an entry of a store without layers.
    package var layers: LayersOfRoot? { context as? LayersOfRoot }
}

/// Converts the changes of a store with layers to changes of merged values, for an observer that knows no types.
final class MergedSubscriber: EntrySubscriber {
    private let mailbox: Mailbox<PrefsChange>
    private let root: String

    init(_ mailbox: Mailbox<PrefsChange>, _ root: String) {
        (self.mailbox, self.root) = (mailbox, root)
    }

    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        func merged(_ entry: EntryState) -> StoredValue? {
            entry.layers?.layers.merged(entry.value?.dictionary, root: root).map(StoredValue.dictionary)
        }
        return EntryChange(
            of: change.key, from: merged(change.before), to: merged(change.after), isForeign: change.isForeign
        ).flatMap(mailbox.receive)
    }
}

// MARK: - One key

/// The values of the layers for one key of a class, parsed and checked by the declared type.
package final class LayeredKey: Sendable {
    package struct Value: Sendable {
        package let value: StoredValue
        package let layer: String
        package let place: String

        package init(_ value: StoredValue, layer: String, place: String) {
            (self.value, self.layer, self.place) = (value, layer, place)
        }
    }

    /// The value that wins over the stored one.
    package let above: Value?
    /// Without such a value, the parts that win over those of the stored one, the highest first. A part is a dictionary of
    /// fields.
    private let partsAbove: [Value]
    /// The value that is read if nothing is stored.
    package let below: Value?
    /// With `sections`, the parts below, the highest first.
    private let partsBelow: [Value]
    /// The entries that do not fit and were ignored.
    package let faults: [PrefsProblem]
    private let key: String
    private let property: (any DeclaredProperty)?
    /// The fields by which values are merged; nil if a value is a whole, and only variables set fields.
    private let sections: SectionFields?

    /// - Parameter property: nil for a key without a declaration, which accepts every value.
    package init(
        _ key: String, for property: (any DeclaredProperty)?, _ sections: SectionFields? = nil, above: Value?,
        parts: [Value] = [], below: Value?, partsBelow: [Value] = [], faults: [PrefsProblem]
    ) {
        (self.key, self.property, self.sections) = (key, property, sections)
        (self.above, partsAbove, self.below, self.partsBelow) = (above, parts, below, partsBelow)
        self.faults = faults
    }

    package typealias Merged = (value: StoredValue?, faults: [PrefsProblem])

    /// The value between the layers, and the parts that do not fit.
    ///
    /// - Parameter raw: the stored value as it was written.
    func value(over stored: StoredValue?, writtenAs raw: @autoclosure () throws(PrefsError) -> StoredValue?)
        throws(PrefsError) -> Merged
    {
        if let above { return (above.value, []) }
        guard let stored, mismatch(of: stored) == nil else { return merged(over: nil, writtenAs: nil) }
        return merged(over: stored, writtenAs: sections == nil ? nil : try raw())
    }

    /// A stored value that fits, with the parts around it.
    package func merged(over stored: StoredValue?, writtenAs raw: StoredValue?) -> Merged {
        let value = stored ?? below?.value
        guard let sections else {
            // The fields of variables, over a whole value.
            if partsAbove.isEmpty { return (value, []) }
            let base = value?.isNull == false ? value : property?.storedDefault
            guard case .dictionary(var members)? = base else { return (value, []) }
            for part in partsAbove.reversed() { members.merge(part.value.dictionary ?? [:]) { $1 } }
            return (.dictionary(members), [])
        }
        if let stored, stored.dictionary == nil, partsAbove.isEmpty { return (stored, []) }
        let own = stored.flatMap { $0.dictionary == nil ? nil : sections.part(of: $0, writtenAs: raw ?? $0) }
        let lower = stored == nil || own != nil ? partsBelow : []
        guard own != nil || !partsAbove.isEmpty || !lower.isEmpty else { return (value, []) }
        let start = property?.storedDefault
        /// Merges from the lowest part to the highest.
        func merged(_ above: [Value], _ below: [Value]) -> StoredValue? {
            let parts = below.reversed().map(\.value) + (own.map { [$0] } ?? []) + above.reversed().map(\.value)
            return parts.reduce(start) { sections.merging($1, over: $0) }
        }
        func error(_ above: [Value], _ below: [Value]) -> PropertyListFailure? {
            merged(above, below).flatMap { property?.error(of: $0, forKey: key)?.failures.first }
        }
        if error(partsAbove, lower) == nil { return (merged(partsAbove, lower), []) }
        // A part that does not fit with those that count more is left out.
        var (above, below, faults): ([Value], [Value], [PrefsProblem]) = ([], [], [])
        for part in partsAbove {
            if let failure = error(above + [part], []) {
                faults.append(fault(failure, of: part))
            } else {
                above.append(part)
            }
        }
        for part in lower {
            if let failure = error(above, below + [part]) {
                faults.append(fault(failure, of: part))
            } else {
                below.append(part)
            }
        }
        return (merged(above, below), faults)
    }

    private func fault(_ failure: PropertyListFailure, of part: Value) -> PrefsProblem {
        let reason = failure.path == key ? failure.reason : "\(failure.path): \(failure.reason)"
        return PrefsProblem(layer: part.layer, place: part.place, reason: reason)
    }

    /// Whether values are merged by their fields.
    var isMerged: Bool { sections != nil }

    /// What rejects a write.
    var cover: Value? { above ?? partsAbove.first }

    /// The highest layer below the base that has a value or a part.
    var highestBelow: Value? { partsBelow.first ?? below }

    /// Why a stored value does not fit its property, so that the layer below is read. nil if it fits, or if no layer has a
    /// value that could be read without it.
    func mismatch(of stored: StoredValue) -> PrefsError? {
        let isAlone = highestBelow == nil && (sections == nil || partsAbove.isEmpty)
        return isAlone ? nil : property?.error(of: stored, forKey: key)
    }

    /// Where a field comes from.
    ///
    /// - Parameter stored: the stored part.
    func source(ofField path: [String], over stored: StoredValue?) -> PrefSource {
        func has(_ value: StoredValue?) -> Bool { path.reduce(value) { $0?.dictionary?[$1] } != nil }
        if let above { return .layer(above.layer) }
        let left = Set(merged(over: stored, writtenAs: stored).faults.map(\.path))
        func first(of parts: [Value]) -> PrefSource? {
            parts.first { has($0.value) && !left.contains($0.place) }.map { .layer($0.layer) }
        }
        return first(of: partsAbove) ?? (has(stored) ? .stored : first(of: partsBelow) ?? .default)
    }
}
