import PersistentPreferences

/// The values of a source as they were read last, and the changes that were made to them.
struct EditorDocument {
    /// A change that can be undone.
    private struct Step {
        let path: ValuePath
        let old: StoredValue?
        let new: StoredValue?
    }

    let source: any EditableSource
    private(set) var items: [EditorItem] = []
    private(set) var values: [String: StoredValue] = [:]
    /// Why the newest known state was read.
    private(set) var failure: PrefsError?
    private var history: [Step] = []

    init(_ source: any EditableSource) {
        self.source = source
    }

    mutating func read() throws {
        failure = nil
        (items, values, failure) = try source.read()
    }

    // MARK: - Changes

    /// Makes a change, all or nothing.
    ///
    /// - Returns: the place that has changed, and the warning of the write.
    mutating func perform(_ change: EditorChange) throws -> (path: ValuePath, warning: PrefsError?) {
        switch change {
        case .set(let path, let text, let type):
            let value = try source.value(of: text, at: path, as: type)
            return (path, try store(at: path) { _ in value })
        case .remove(let path):
            return (path, try store(at: path) { _ in nil })
        case .retype(let path, let type):
            return (path, try store(at: path) { $0.map(type.converted) })
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

    private func newPath(_ name: String?, in container: ValuePath?) -> ValuePath {
        guard let container else { return ValuePath(name ?? "", []) }
        if let name { return container.appending(.key(name)) }
        return container.appending(.index(container.value(in: values[container.root])?.array?.count ?? 0))
    }

    private mutating func store(
        at path: ValuePath, _ body: (StoredValue?) throws -> StoredValue?
    ) throws -> PrefsError? {
        let whole = path.outsideArrays
        let shown = whole.value(in: values[whole.root])
        var step: Step?
        let warning = try source.update(whole) { now in
            if whole != path, now != shown {
                throw CommandError("another program has changed `\(ShownText.key(whole.text))`; nothing is stored")
            }
            let inner = path.inside(whole)
            let new = try inner.value(now, with: body(inner.value(in: now)))
            step = Step(path: whole, old: now, new: new)
            return new
        }
        if let step, step.old != step.new { remember(step) }
        return warning
    }

    private mutating func remember(_ step: Step) {
        if step.old.map({ source.accepts($0, at: step.path) }) ?? true {
            history.append(step)
        } else {
            history.removeAll { $0.path.overlaps(step.path) }
        }
    }

    private mutating func undo() throws -> (path: ValuePath, warning: PrefsError?) {
        guard let step = history.last else { throw CommandError("there is nothing to undo") }
        var isUnchanged = true
        let warning = try source.update(step.path) { now in
            isUnchanged = now == step.new
            return isUnchanged ? step.old : now
        }
        history.removeLast()
        guard isUnchanged else {
            throw CommandError("another program has changed `\(ShownText.key(step.path.text))` since; it is not undone")
        }
        return (step.path, warning)
    }

    // MARK: - Confirmation

    /// What to ask before a change that cannot be undone; nil for another change.
    func question(before change: EditorChange) -> String? {
        if case .set(let path, let text, let type) = change {
            // A text that is rejected changes nothing.
            do { _ = try source.value(of: text, at: path, as: type) } catch { return nil }
        }
        let path: ValuePath? =
            switch change {
            case .set(let path, _, _), .remove(let path), .retype(let path, _): path.outsideArrays
            case .add(_, let container, _): container?.outsideArrays
            case .undo: history.last?.path
            }
        if change == .undo, path == nil { return nil }
        if case .damaged = failure { return "storing quarantines the damaged file; u cannot undo that; go on? (y/n)" }
        guard change != .undo, let path, let old = path.value(in: values[path.root]), !source.accepts(old, at: path)
        else {
            return nil
        }
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
