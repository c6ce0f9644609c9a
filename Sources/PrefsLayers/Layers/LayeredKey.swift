import PersistentPreferences
import PrefsPropertyLists

/// The values of the layers for one key of a class, parsed and checked by the declared type.
final class LayeredKey: Sendable {
    struct Value: Sendable {
        let value: StoredValue
        let layer: String
        let place: String

        init(_ value: StoredValue, layer: String, place: String) {
            (self.value, self.layer, self.place) = (value, layer, place)
        }
    }

    /// The value that wins over the stored one.
    let above: Value?
    /// Without such a value, the parts that win over those of the stored one, the highest first. A part is a dictionary of
    /// fields.
    private let partsAbove: [Value]
    /// The value that is read if nothing is stored.
    let below: Value?
    /// With `sections`, the parts below, the highest first.
    private let partsBelow: [Value]
    /// The entries that do not fit and were ignored.
    let faults: [PrefsProblem]
    private let key: String
    private let property: (any DeclaredProperty)?
    /// The fields by which values are merged; nil if a value is a whole, and only variables set fields.
    private let sections: SectionFields?

    /// - Parameter property: nil for a key without a declaration, which accepts every value.
    init(
        _ key: String, for property: (any DeclaredProperty)?, _ sections: SectionFields? = nil, above: Value?,
        parts: [Value] = [], below: Value?, partsBelow: [Value] = [], faults: [PrefsProblem]
    ) {
        (self.key, self.property, self.sections) = (key, property, sections)
        (self.above, partsAbove, self.below, self.partsBelow) = (above, parts, below, partsBelow)
        self.faults = faults
    }

    typealias Merged = (value: StoredValue?, faults: [PrefsProblem])

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
    func merged(over stored: StoredValue?, writtenAs raw: StoredValue?) -> Merged {
        let value = stored ?? below?.value
        guard let sections else {
            // The fields of variables, over a whole value.
            if partsAbove.isEmpty { return (value, []) }
            let base = value?.present() ?? property?.storedDefault
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
    private var cover: Value? { above ?? partsAbove.first }

    /// The highest layer below the base that has a value or a part.
    private var highestBelow: Value? { partsBelow.first ?? below }

    /// What the class has to know of it.
    var summary: LayersOfKey {
        LayersOfKey(
            cover: cover.map { ($0.layer, $0.place) }, hasWholeAbove: above != nil, below: highestBelow?.layer,
            hasFaults: !faults.isEmpty)
    }

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
        if let above { return .layer(above.layer) }
        let left = Set(merged(over: stored, writtenAs: stored).faults.map(\.path))
        func first(of parts: [Value]) -> PrefSource? {
            parts.first { SectionFields.has(path, in: $0.value) && !left.contains($0.place) }.map { .layer($0.layer) }
        }
        return first(of: partsAbove)
            ?? (SectionFields.has(path, in: stored) ? .stored : first(of: partsBelow) ?? .default)
    }
}
