import PersistentPreferences

/// The values of a place that were read last and the changes that were made to them, or the lines of a file with a
/// typing error.
struct EditorDocument {
    /// A change that can be undone.
    private struct Step {
        let path: ValuePath
        let old: StoredValue?
        let new: StoredValue?
    }

    let place: Place
    private(set) var items: [EditorItem] = []
    private(set) var values: [String: StoredValue] = [:]
    /// Why the newest known state was read instead of the file.
    private(set) var failure: PrefsError?
    /// The malformed file whose lines are edited.
    private(set) var faulty: FaultyFile?
    private var history: [Step] = []

    init(_ place: Place) {
        self.place = place
    }

    /// True if entries of any name and type can be added.
    var isOpen: Bool { place.prefs == nil && faulty == nil }

    /// - Parameter opensFaults: whether to show the lines of a malformed file instead of the known values.
    /// - Throws: why nothing can be edited.
    mutating func read(opensFaults: Bool = true) throws {
        (values, failure, faulty) = ([:], nil, nil)
        do {
            let (known, warning) = try place.read()
            (values, failure) = (known ?? [:], warning.flatMap { $0.wasStored ? nil : $0 })
        } catch let error as PrefsError {
            failure = error
        }
        // The lines of a file with secrets are not shown.
        faulty = opensFaults && place.secrets.isEmpty ? failure.flatMap { FaultyFile($0, in: place) } : nil
        if faulty == nil, let failure, !failure.returnsKnownState { throw failure }
        items = faulty?.items ?? place.items(of: values)
    }

    // MARK: - Changes

    /// Makes a change, all or nothing.
    ///
    /// - Returns: the place that has changed, and the warning of the write.
    mutating func perform(_ change: EditorChange) throws -> (path: ValuePath, warning: PrefsError?) {
        if let faulty { return try faulty.perform(change) }
        switch change {
        case .set(let path, let text, let type):
            let value = try value(of: text, at: path, as: type)
            return (path, try store(at: path) { _ in value })
        case .remove(let path): return (path, try store(at: path) { _ in nil })
        case .retype(let path, let type): return (path, try store(at: path) { $0.map(type.converted) })
        case .add(let name, let container, let type):
            let path = newPath(name, in: container)
            let warning = try store(at: path) { now in
                if now != nil { throw CommandError("there is a `\(ShownText.key(path.text))` already") }
                return type.initialValue
            }
            return (path, warning)
        case .undo: return try undo()
        }
    }

    private func value(of text: String, at path: ValuePath, as type: PropertyListType?) throws -> StoredValue? {
        if type == nil, place.prefs == nil { throw CommandError("a reference of a keyed archive cannot be edited") }
        return try place.value(of: text, at: path, as: type, in: values)
    }

    private func newPath(_ name: String?, in container: ValuePath?) -> ValuePath {
        guard let container else { return ValuePath(name ?? "") }
        if let name { return container.appending(.key(name)) }
        return container.appending(.index(container.value(in: values)?.array?.count ?? 0))
    }

    /// The part that is stored and undone as a whole: a declared property, or an entry outside of arrays.
    private func unit(of path: ValuePath) -> ValuePath {
        place.prefs == nil ? path.outsideArrays : ValuePath(path.root)
    }

    private mutating func store(
        at path: ValuePath, _ body: (StoredValue?) throws -> StoredValue?
    ) throws -> PrefsError? {
        let (place, whole) = (place, unit(of: path))
        let shown = whole.value(in: values)
        var step: Step?
        let warning = try place.update { values in
            let now = whole.value(in: values)
            if whole != path, now != shown {
                throw CommandError("another program has changed `\(ShownText.key(whole.text))`; nothing is stored")
            }
            let base = whole == path ? now : whole.steps.isEmpty ? place.base(of: path.root, in: values) : now
            let inner = path.inside(whole)
            let new = try inner.value(base, with: body(inner.value(in: base)))
            if let new, whole.steps.isEmpty { try place.check(new, forKey: path.root, over: now) }
            step = Step(path: whole, old: place.isOfLayer(path.root) ? nil : now, new: new)
            try Self.put(new, at: whole, over: now, in: &values)
        }
        if let step, step.old != step.new { remember(step) }
        return warning
    }

    private static func put(
        _ new: StoredValue?, at path: ValuePath, over now: StoredValue?, in values: inout [String: StoredValue]
    ) throws {
        // Removing a missing value would add the dictionaries that lead to it.
        if now == nil, new == nil { return }
        values[path.root] = try path.value(values[path.root], with: new)
    }

    private mutating func remember(_ step: Step) {
        if step.old.map({ accepts($0, at: step.path) }) ?? true {
            history.append(step)
        } else {
            history.removeAll { $0.path.overlaps(step.path) }
        }
    }

    private mutating func undo() throws -> (path: ValuePath, warning: PrefsError?) {
        guard let step = history.last else { throw CommandError("there is nothing to undo") }
        var isUnchanged = true
        let warning = try place.update { values in
            let now = step.path.value(in: values)
            isUnchanged = now == step.new
            if isUnchanged { try Self.put(step.old, at: step.path, over: now, in: &values) }
        }
        history.removeLast()
        guard isUnchanged else {
            throw CommandError("another program has changed `\(ShownText.key(step.path.text))` since; it is not undone")
        }
        return (step.path, warning)
    }

    /// True if the stored value could be stored again after another one.
    private func accepts(_ value: StoredValue, at path: ValuePath) -> Bool {
        if let prefs = place.prefs { return prefs.mismatch(of: value, forKey: path.root) == nil }
        let before: [String: StoredValue] = path.steps.isEmpty ? [:] : [path.root: .dictionary([:])]
        guard let entry = try? path.value(nil, with: value) else { return false }
        return (try? Roots.changed(before, to: [path.root: entry])) != nil
    }

    // MARK: - Confirmation

    /// The question before a change that cannot be undone; nil for other changes.
    func question(before change: EditorChange) -> String? {
        if faulty != nil { return nil }
        if case .set(let path, let text, let type) = change {
            // A text that is rejected changes nothing.
            do { _ = try value(of: text, at: path, as: type) } catch { return nil }
        }
        let path: ValuePath? =
            switch change {
            case .set(let path, _, _), .remove(let path), .retype(let path, _): unit(of: path)
            case .add(_, let container, _): container.map(unit)
            case .undo: history.last?.path
            }
        if change == .undo, path == nil { return nil }
        if case .damaged = failure { return "storing quarantines the damaged file; u cannot undo that; go on? (y/n)" }
        guard change != .undo, let path, let old = path.value(in: values), !accepts(old, at: path) else { return nil }
        return "u cannot restore the old `\(ShownText.key(path.text))`; go on? (y/n)"
    }
}

extension PrefsError {
    /// A description for one line of a terminal. Omits the path of a malformed file.
    var shortText: String {
        switch self {
        case .quarantined: "stored; the damaged file was quarantined beside it"
        case .damaged(let file), .notOurs(let file): String(file.place.dropFirst(file.path.count + 2))
        default: description
        }
    }
}
