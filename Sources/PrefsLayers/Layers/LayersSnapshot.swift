import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The layers of a store at one moment.
final class LayersSnapshot: RootLayersSnapshot {
    let above: [LayerState]
    let below: [LayerState]
    /// nil if entries may change while this object is the newest one.
    let revision: Revision?
    /// The paths that are not read, because they lead to the file of the base.
    private let cycles: [PrefsProblem]
    /// Whether a layer has entries that a root may make faulty.
    private let hasFaults: Bool
    /// The values of the layers for the keys of classes, looked up once.
    private let keys = Locked<[KeyOfClass: LayeredKey]>([:])

    private struct KeyOfClass: Hashable {
        let declarations: ClassIdentity
        let root: String
        let key: String
    }

    init(above: [PrefsLayer], below: [PrefsLayer], _ layout: DomainLayout) {
        func state(_ layer: PrefsLayer) -> LayerState {
            switch layer.source {
            case .entries(let entries): LayerState(name: layer.name, entries: entries)
            case .file(let file): LayerState(name: layer.name, entries: .file(file.read(), layout))
            case .secrets(let folder): LayerState(name: layer.name, entries: .secrets(folder.read()))
            }
        }
        (self.above, self.below) = (above.map(state), below.map(state))
        cycles = (above + below).flatMap(\.cycles)
        let states = self.above + self.below
        revision = states.allSatisfy(\.entries.isConstant) ? Revision() : nil
        hasFaults =
            !cycles.isEmpty
            || states.contains { state in
                switch state.entries {
                case .text, .managed: false
                case .values(let values): !values.faults.isEmpty
                case .broken: true
                case .secrets(let reading): reading.files.failure != nil
                case .file(let reading, let layout):
                    reading.fault != nil
                        || layout == .roots && reading.content?.values.contains { $0.dictionary == nil } == true
                }
            }
    }

    /// What to watch besides files of settings.
    var paths: Set<String> {
        (above + below).reduce(into: []) { paths, state in
            if case .secrets(let reading) = state.entries { paths.formUnion(reading.files.paths) }
        }
    }

    func isCurrent(_ above: [PrefsLayer], _ below: [PrefsLayer]) -> Bool {
        Self.areCurrent(self.above, above) && Self.areCurrent(self.below, below)
    }

    private static func areCurrent(_ states: [LayerState], _ layers: [PrefsLayer]) -> Bool {
        for (state, layer) in zip(states, layers) {
            switch (layer.source, state.entries) {
            case (.file(let file), .file(let reading, _)) where !file.isCurrent(reading): return false
            case (.secrets, .secrets(let reading)) where !reading.files.isCurrent: return false
            default: break
            }
        }
        return true
    }

    /// The faults of layers as a whole.
    func faults(of root: String) -> [PrefsProblem] {
        hasFaults ? cycles + (above + below).flatMap { $0.entries.faults(of: root, layer: $0.name) } : []
    }

    /// The values of the layers for a key of a class.
    func key(_ key: String, of root: String, in declarations: ClassDeclarations) -> LayeredKey {
        let name = KeyOfClass(declarations: ClassIdentity(object: declarations), root: root, key: key)
        if let known = keys.withLock({ $0[name] }) { return known }
        let new = self.newKey(key, of: root, in: declarations)
        guard revision != nil else { return new }
        keys.withLock { keys in
            // Bounded, because a program may have any number of roots.
            if keys.count >= 4_096 { keys = [:] }
            keys[name] = new
        }
        return new
    }

    /// A key without a declaration accepts every value, and texts as strings.
    private func newKey(_ key: String, of root: String, in declarations: ClassDeclarations) -> LayeredKey {
        var faults = (above + below).compactMap {
            $0.sharedName(ofKey: key, in: declarations) ?? $0.failedMigration(of: root, in: declarations)
        }
        func note(_ failure: PropertyListFailure, _ state: LayerState, _ place: String) {
            // The place names the key, but not the part of its value.
            let reason = failure.path == key ? failure.reason : "\(failure.path): \(failure.reason)"
            faults.append(PrefsProblem(layer: state.name, place: place, reason: reason))
        }
        let property = declarations[key]?.property
        let sections = property?.sectionFields
        /// The first whole value, and the parts above it, the highest first: the fields of variables, and with `sections`
        /// each struct.
        func first(of states: [LayerState]) -> (value: LayeredKey.Value?, parts: [LayeredKey.Value]) {
            var parts: [LayeredKey.Value] = []
            for state in states {
                for field in state.fields(ofKey: key, in: declarations) {
                    state.entries.secrets?.hide(key)
                    switch field.value {
                    case .success(let value):
                        parts.append(.init(.dictionary([field.name: value]), layer: state.name, place: field.place))
                    case .failure(let failure): note(failure, state, field.place)
                    }
                }
                guard let entry = state.entry(forKey: key, root: root, in: declarations, sections) else { continue }
                state.entries.secrets?.hide(key)
                switch entry.value {
                case .success(let value):
                    let whole = LayeredKey.Value(value, layer: state.name, place: entry.place)
                    if sections == nil || value.dictionary == nil { return (whole, parts) }
                    parts.append(whole)
                case .failure(let failure): note(failure, state, entry.place)
                }
            }
            return (nil, parts)
        }
        /// Fields of variables over a whole value.
        func whole(_ value: StoredValue?, with parts: [LayeredKey.Value]) -> LayeredKey.Value? {
            guard let highest = parts.first, case .dictionary(var members)? = value else { return nil }
            for part in parts.reversed() { members.merge(part.value.dictionary ?? [:]) { $1 } }
            return .init(.dictionary(members), layer: highest.layer, place: highest.place)
        }
        var (above, below) = (first(of: above), first(of: below))
        if sections == nil {
            if let value = above.value { above = (whole(value.value, with: above.parts) ?? value, []) }
            below.value = whole(below.value?.value ?? property?.storedDefault, with: below.parts) ?? below.value
            below.parts = []
        } else if above.value != nil, let highest = above.parts.first {
            // Parts over nil are parts of the default, and nothing below shows.
            let alone = LayeredKey(key, for: property, sections, above: nil, parts: above.parts, below: nil, faults: [])
            let (value, left) = alone.merged(over: nil, writtenAs: nil)
            above = (value.map { .init($0, layer: highest.layer, place: highest.place) }, [])
            faults += left
        }
        return LayeredKey(
            key, for: property, sections, above: above.value, parts: above.parts, below: below.value,
            partsBelow: below.parts, faults: faults)
    }

    /// The entries that are ignored, and the names that no key has.
    func notes(forKeys keys: [String], in declarations: ClassDeclarations) -> [PrefsProblem] {
        (above + below).flatMap { state -> [PrefsProblem] in
            var notes = state.entries.texts?.notes(forKeys: keys, in: declarations) ?? []
            if case .secrets(let reading) = state.entries, let mode = reading.files.writableFolder {
                notes.insert(NameNote(writable: mode, at: ""), at: 0)
            }
            return notes.map { PrefsProblem(layer: state.name, place: $0.place, reason: $0.reason, kind: $0.kind) }
        }
    }

    func isSensitive(_ key: String, of root: String, in declarations: ClassDeclarations) -> Bool {
        // A value that nobody has read yet is found first.
        _ = self.key(key, of: root, in: declarations)
        return (above + below).contains { $0.entries.secrets?.hides(key) == true }
    }

    func howToSet(_ key: String, in declarations: ClassDeclarations) -> String {
        let names = (above + below).compactMap { state -> String? in
            guard case .text(let layer) = state.entries else { return nil }
            return layer.names(ofKey: key, in: declarations).first
        }
        return names.isEmpty ? "" : "; set " + names.joined(separator: " or ")
    }

    // MARK: - Without types

    /// A root of the base between the layers, without the layers of text. nil if neither has values.
    func merged(_ stored: [String: StoredValue]?, root: String) -> [String: StoredValue]? {
        var result = stored
        for layer in below {
            for (key, value) in layer.entries.values(of: root) where result?.index(forKey: key) == nil {
                result = result ?? [:]
                result?[key] = value
            }
        }
        for layer in above.reversed() {
            for (key, value) in layer.entries.values(of: root) {
                result = result ?? [:]
                result?[key] = value
            }
        }
        return result
    }

    /// - Throws: `PrefsError.coveredByLayer` if one of the keys is in a layer above that needs no type.
    private func checkUncovered(_ keys: [String], root: String) throws(PrefsError) {
        let covered = keys.compactMap { key in
            above.lazy.compactMap { layer -> PrefsProblem? in
                guard layer.entries.values(of: root)[key] != nil,
                    let entry = layer.entry(forKey: key, root: root, in: nil)
                else { return nil }
                return PrefsProblem(covered: key, by: layer.name, place: entry.place)
            }.first
        }
        if !covered.isEmpty { throw .coveredByLayer(covered.sorted(byText: \.topLevelKey)) }
    }

    func change(
        _ stored: inout [String: StoredValue]?, root: String, _ body: (inout [String: Any]?) throws -> Void
    ) throws {
        let before = merged(stored, root: root)
        let shown = before?.objects
        var after = shown
        try body(&after)
        guard let after else {
            if before != nil { stored = nil }
            return
        }
        let change = try RootChange(from: before ?? [:], shownAs: shown ?? [:], to: after)
        try checkUncovered(Array(change.assigned.keys) + change.removed, root: root)
        if before == nil { stored = [:] }
        try change.apply(to: &stored)
    }
}
