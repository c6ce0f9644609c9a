import PersistentPreferences
import PrefsLayers
import PrefsPropertyLists

/// The items of a place in the editor.
extension Place {
    /// The place, for the title line.
    var title: String { prefs.map { "\($0.key)  \(file ?? name)" } ?? file ?? name }

    /// An item for each declared key, or for each entry.
    func items(of values: [String: StoredValue]) -> [EditorItem] {
        prefs == nil
            ? values.sortedByBytes.map { entry($1, at: ValuePath($0), name: $0) }
            : keys.map { item($0, values[$0.name]) }
    }

    private func entry(_ value: StoredValue, at path: ValuePath, name: String) -> EditorItem {
        let type = PropertyListType(of: value)
        if secrets.contains(name) {
            return EditorItem(
                path: path, name: name, typeName: type?.rawValue ?? "reference", content: .set(ShownText.hidden),
                type: type, isHidden: true)
        }
        var children: [EditorItem] = []
        if let members = value.dictionary {
            children = members.sortedByBytes.map { entry($1, at: path.appending(.key($0)), name: $0) }
        } else if let elements = value.array {
            children = elements.enumerated().map { entry($1, at: path.appending(.index($0)), name: "[\($0)]") }
        }
        let typeName = type?.rawValue ?? "reference"
        return EditorItem(
            path: path, name: name, typeName: typeName,
            content: type?.isContainer == true
                ? .container(count: children.count) : .set(PropertyListType.text(of: value)),
            type: type, choices: type == .boolean ? ["true", "false"] : [], children: children,
            note: "\(path.text): \(typeName)")
    }

    // MARK: - Settings

    private func item(_ key: PrefsKey, _ stored: StoredValue?) -> EditorItem {
        let path = ValuePath(key.name)
        return EditorItem(
            path: path, name: key.name, typeName: key.typeName, content: content(stored, of: key.name),
            isHidden: secrets.contains(key.name), choices: key.description?.choices ?? [],
            children: fields(of: effective(stored, key.name), at: path, of: key, isStored: stored != nil),
            note: note(key, at: path, key.typeName))
    }

    private func content(_ value: StoredValue?, of key: String) -> EditorItem.Content {
        guard let value else {
            return prefs?.storedDefault(forKey: key).map { .isDefault(shownText(of: $0, at: ValuePath(key))) }
                ?? .notSet
        }
        let text = shownText(of: value, at: ValuePath(key))
        if case .layer(let name)? = prefs?.source(ofKey: key) { return .ofLayer(text, name: name) }
        guard prefs?.mismatch(of: value, forKey: key) != nil else { return .set(text) }
        let type = ValueText.typeName(value)
        let isOfType = prefs?.storedDefault(forKey: key).map { ValueText.typeName($0) == type } ?? false
        return .unfit(text, state: isOfType ? "invalid" : type)
    }

    private func shownText(of value: StoredValue, at path: ValuePath) -> String {
        secrets.contains(path.root) ? ShownText.hidden : text(of: value, at: path)
    }

    /// The fields of a declared struct. A dictionary is edited as one text, because its type declares no fields.
    private func fields(of value: StoredValue?, at path: ValuePath, of key: PrefsKey, isStored: Bool) -> [EditorItem] {
        guard !secrets.contains(key.name), !key.typeName.hasPrefix("["), key.description?.choices == nil,
            let members = value?.dictionary
        else { return [] }
        return members.sortedByBytes.map { name, member in
            let place = path.appending(.key(name))
            let text = text(of: member, at: place)
            return EditorItem(
                path: place, name: name, typeName: ValueText.typeName(member),
                content: isStored ? .set(text) : .isDefault(text),
                choices: PropertyListType(of: member) == .boolean ? ["true", "false"] : [],
                children: fields(of: member, at: place, of: key, isStored: isStored),
                note: note(key, at: place, ValueText.typeName(member)))
        }
    }

    /// The note of an item, on one line: the type, the constraint, the default and the help of a key, or the type and
    /// the default of a field.
    private func note(_ key: PrefsKey, at path: ValuePath, _ typeName: String) -> String {
        let constraint = path.steps.isEmpty ? key.description?.constraint.map { " \($0)" } ?? "" : ""
        let whole = prefs?.storedDefault(forKey: key.name)
        let standard = path.value(in: whole).map { shownText(of: $0, at: path) } ?? "none"
        let name = ValuePath(key.shortName, path.steps).text
        let help = key.description?.help.map { "; \($0)" } ?? ""
        return "\(name): \(typeName)\(constraint), default \(standard)\(help)"
    }
}
