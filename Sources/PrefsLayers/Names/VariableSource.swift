import PrefsPropertyLists

/// The variables of an environment. A key has two: the exact one, `EDITOR_fontSize`, and the derived one,
/// `EDITOR_FONT_SIZE`. A field of a key has those of a key `server.port`: `EDITOR_server_port`, `EDITOR_SERVER_PORT`.
///
/// Or the files of a folder. They are named as variables without a prefix are, but the exact name is the key.
struct VariableSource: TextSource {
    private let prefix: String
    /// The path of the folder; nil for variables.
    private let folder: String?
    /// The variables with the prefix.
    private let variables: [String: LayerText.Content]
    /// The permissions of the files that others may write.
    private let writable: [String: UInt32]
    let items: [String]

    /// - Parameter isText: whether the value is the text of the variable, and not a repaired one.
    init(
        prefix: String, in variables: [String: String],
        isText: (_ name: String, _ value: String) -> Bool = { _, _ in true }
    ) {
        self.prefix = prefix
        (folder, writable) = (nil, [:])
        let own = variables.filter { $0.key.utf8.starts(with: prefix.utf8) }
        self.variables = own.reduce(into: [:]) { contents, variable in
            contents[variable.key] = isText(variable.key, variable.value) ? Self.content(variable.value) : .notText
        }
        items = self.variables.keys.sorted()
    }

    init(files: [String: LayerText.Content], writable: [String: UInt32], in folder: String) {
        (prefix, self.folder, variables, self.writable) = ("", folder, files, writable)
        items = files.keys.sorted()
    }

    private var kind: String { folder == nil ? "variable" : "file" }

    private func place(_ name: String) -> String { folder.map { "\(name) in \($0)" } ?? name }

    func texts(for keys: [TextKey]) -> KeyTexts {
        let exact = owners(of: keys, name: { self.exact($0) }, place: place, kind: kind)
        let derived = owners(of: keys, name: { self.derived($0) }, place: place, kind: kind)
        var result = KeyTexts()
        result.sharedNames = exact.shared.merging(derived.shared) { $1 }
        for key in keys {
            let own =
                [self.exact(key)].filter { exact.byName[$0] != nil }
                + [self.derived(key)].compactMap { $0 }.filter { derived.byName[$0] != nil }
            let given = own.filter { variables[$0] != nil }
            guard let name = given.first, let content = variables[name] else { continue }
            result.texts[key.name] = LayerText(place: place(name), content: content)
            writable[name].map { result.notes.append(NameNote(writable: $0, at: place(name))) }
            if let other = given.last, other != name {
                result.notes.append(NameNote(place: place(other), reason: "ignored, because \(name) is set, too"))
            }
        }
        var names = Set(keys.flatMap(names))
        addFields(of: keys, to: &result, unless: &names)
        result.used = Set(items.indices.filter { names.contains(items[$0]) })
        return result
    }

    /// - Parameter names: the variables of keys, which win over those of fields. Adds those of fields that are set.
    private func addFields(of keys: [TextKey], to result: inout KeyTexts, unless names: inout Set<String>) {
        var owners: [String: [(key: String, field: String)]] = [:]
        for key in keys {
            for field in key.fields {
                for name in self.names(of: Self.key(of: field, in: key)) where variables[name] != nil {
                    if !names.contains(name) { owners[name, default: []].append((key.name, field)) }
                }
            }
        }
        // The exact variables come first, because lower-case letters follow upper-case ones.
        for (name, fields) in owners.sorted(by: { $0.key > $1.key }) {
            names.insert(name)
            let (key, field) = fields[0]
            if fields.count > 1 {
                let list = fields.map { "\"\(ShownText.key($0.key + "." + $0.field))\"" }.joined(separator: " and ")
                result.notes.append(
                    NameNote(place: place(name), reason: "ignored, because the fields \(list) have this \(kind)"))
            } else if let other = result.fields[key]?[field] {
                result.notes.append(NameNote(place: place(name), reason: "ignored, because \(other.place) is set, too"))
            } else if let content = variables[name] {
                result.fields[key, default: [:]][field] = LayerText(place: place(name), content: content)
                writable[name].map { result.notes.append(NameNote(writable: $0, at: place(name))) }
            }
        }
    }

    private static func key(of field: String, in key: TextKey) -> TextKey {
        TextKey(name: key.name + "." + field, isFlag: false, isList: false, fields: [])
    }

    func namesOfFields(of key: TextKey) -> [String] {
        key.fields.compactMap { names(of: Self.key(of: $0, in: key)).first }
    }

    func names(of key: TextKey) -> [String] {
        let (exact, derived) = (exact(key), derived(key))
        return [derived, derived == exact ? nil : exact].compactMap { $0 }
    }

    /// Without a prefix, most variables belong to other programs. In a folder, a file may be for another program, so only a
    /// likely mistake is worth a note.
    func notes(aboutUnused items: [String], names: [String]) -> [NameNote] {
        if prefix.isEmpty && folder == nil || items.isEmpty { return [] }
        func rest(_ name: String) -> String { String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) }
        let words = NearestWord(among: names.map(rest))
        return items.compactMap { item in
            // People write the derived name, also if the exact one is nearer.
            let near = words.nearest(to: rest(item)).map { KeyWords($0).variable ?? $0 }
            if folder != nil, near == nil { return nil }
            return NameNote(
                place: place(item),
                reason: "no key has this \(kind)"
                    + (near.map { "; did you mean \"\(ShownText.line(prefix + $0, longest: 80))\"?" } ?? ""))
        }
    }

    private func exact(_ key: TextKey) -> String {
        folder != nil
            ? key.name
            : prefix
                + String(
                    String.UnicodeScalarView(
                        key.name.unicodeScalars.map {
                            $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) ? $0 : "_"
                        }))
    }

    private func derived(_ key: TextKey) -> String? { KeyWords(key.name).variable.map { prefix + $0 } }

    /// A file, also one that is mounted as a variable, ends with a newline that nobody means.
    static func content(_ text: String) -> LayerText.Content {
        var scalars = text.unicodeScalars
        if scalars.last == "\n" {
            scalars.removeLast()
            if scalars.last == "\r" { scalars.removeLast() }
        }
        return scalars.isEmpty ? .empty : .text(String(scalars))
    }
}
