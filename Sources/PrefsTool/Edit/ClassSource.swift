import PersistentPreferences

/// The preferences of a class: one item for each key, of its declared type.
struct ClassSource: EditableSource {
    let title: String
    let isOpen = false

    private let prefs: PersistentPrefs
    private let keys: [PrefsKey]
    private let secrets: Secrets
    /// The path of the preferences file; nil if there is none.
    private let file: String?

    init(_ prefs: PersistentPrefs, title: String, file: String?, reveals: Bool = false) {
        self.prefs = prefs
        secrets = Secrets(of: prefs, reveals: reveals)
        self.title = title
        self.file = file
        keys = PrefsKey.all(of: prefs)
    }

    func read() throws -> (items: [EditorItem], values: [String: StoredValue], failure: PrefsError?) {
        let values = prefs.storedValues
        let failure = prefs.lastError.flatMap { $0.wasStored ? nil : $0 }
        if let failure, !failure.returnsKnownState { throw failure }
        return (keys.map { item($0, values[$0.name]) }, values, failure)
    }

    private func item(_ key: PrefsKey, _ value: StoredValue?) -> EditorItem {
        EditorItem(
            path: ValuePath(key.name, []), name: key.name, typeName: key.typeName,
            content: content(value, of: key.name), isHidden: secrets.contains(key.name),
            choices: key.description?.choices ?? [])
    }

    private func content(_ value: StoredValue?, of key: String) -> EditorItem.Content {
        guard let value else {
            return prefs.storedDefault(forKey: key).map { .isDefault(shownText(of: $0, key)) } ?? .notSet
        }
        let text = shownText(of: value, key)
        if case .layer(let name) = prefs.source(ofKey: key) { return .ofLayer(text, name: name) }
        guard prefs.mismatch(of: value, forKey: key) != nil else { return .set(text) }
        let type = ValueText.typeName(value)
        let isOfType = prefs.storedDefault(forKey: key).map { ValueText.typeName($0) == type } ?? false
        return .unfit(text, state: isOfType ? "invalid" : type)
    }

    private func shownText(of value: StoredValue, _ key: String) -> String {
        secrets.contains(key) ? ShownText.hidden : prefs.text(of: value, forKey: key)
    }

    func observe(_ changed: @escaping @Sendable () -> Void) throws -> (observation: [AnyObject], failure: String?) {
        let observation = prefs.onChange { _ in changed() }
        let failure = prefs.lastError
        if let failure {
            guard case .notWatched = failure else { throw failure }
        }
        // A file that becomes malformed is not reported as a change. `onChange` reports a file that cannot be watched.
        let watch = file.flatMap { try? SidecarPaths.watch(path: $0, changed) }
        return ([observation] + (watch.map { [$0] } ?? []), failure?.description)
    }

    func path(named name: String, in values: [String: StoredValue]) throws -> ValuePath {
        guard let key = keys.first(where: { $0.name == name }) ?? keys.first(where: { $0.shortName == name }) else {
            let names = keys.flatMap { [$0.shortName, $0.name] }
            throw CommandError("no key `\(ShownText.key(name))`" + Suggestion.text(name, among: names))
        }
        return ValuePath(key.name, [])
    }

    func value(of text: String, at path: ValuePath, as type: PropertyListType?) throws -> StoredValue? {
        try prefs.storedValue(ofText: text, forKey: path.root)
    }

    func update(_ path: ValuePath, _ body: (StoredValue?) throws -> StoredValue?) throws -> PrefsError? {
        let failure: PrefsError? = try prefs.update {
            var stored = prefs.storedValue(forKey: path.root)
            if case .layer = prefs.source(ofKey: path.root) { stored = nil }
            prefs[path.root] = try body(stored)?.object
            if let error = prefs.lastError, !error.wasStored { throw error }
        }
        guard let failure = failure ?? prefs.lastError else { return nil }
        if !failure.wasStored { throw failure }
        return failure
    }

    func accepts(_ value: StoredValue, at path: ValuePath) -> Bool {
        prefs.mismatch(of: value, forKey: path.root) == nil
    }
}
