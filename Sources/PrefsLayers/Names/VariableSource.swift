import PrefsPropertyLists

/// The variables of an environment. A key has two: the exact one, `EDITOR_fontSize`, and the derived one,
/// `EDITOR_FONT_SIZE`. A field of a key has those of a key `server.port`: `EDITOR_server_port`, `EDITOR_SERVER_PORT`.
struct VariableSource: TextSource {
    private let prefix: String
    /// The variables with the prefix.
    private let variables: [String: LayerText.Content]
    let items: [String]

    /// - Parameter isText: whether the value is the text of the variable, and not a repaired one.
    init(
        prefix: String, in variables: [String: String],
        isText: (_ name: String, _ value: String) -> Bool = { _, _ in true }
    ) {
        self.prefix = prefix
        let own = variables.filter { $0.key.utf8.starts(with: prefix.utf8) }
        self.variables = own.reduce(into: [:]) { contents, variable in
            contents[variable.key] =
                isText(variable.key, variable.value) ? .text(Self.withoutNewline(variable.value)) : .notText
        }
        items = self.variables.keys.sorted()
    }

    func texts(for keys: [TextKey]) -> KeyTexts {
        let exact = owners(of: keys, name: { self.exact($0) }, kind: "variable")
        let derived = owners(of: keys, name: { self.derived($0) }, kind: "variable")
        var result = KeyTexts()
        result.sharedNames = exact.shared.merging(derived.shared) { $1 }
        for key in keys {
            let own =
                [self.exact(key)].filter { exact.byName[$0] != nil }
                + [self.derived(key)].compactMap { $0 }.filter { derived.byName[$0] != nil }
            let given = own.filter { variables[$0] != nil }
            guard let name = given.first, let content = variables[name] else { continue }
            result.texts[key.name] = LayerText(place: name, content: content)
            if let other = given.last, other != name {
                result.ignored.append(NameNote(place: other, reason: "ignored, because \(name) is set, too"))
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
                result.ignored.append(
                    NameNote(place: name, reason: "ignored, because the fields \(list) have this variable"))
            } else if let other = result.fields[key]?[field] {
                result.ignored.append(NameNote(place: name, reason: "ignored, because \(other.place) is set, too"))
            } else if let content = variables[name] {
                result.fields[key, default: [:]][field] = LayerText(place: name, content: content)
            }
        }
    }

    private static func key(of field: String, in key: TextKey) -> TextKey {
        TextKey(name: key.name + "." + field, isFlag: false, fields: [])
    }

    func namesOfFields(of key: TextKey) -> [String] {
        key.fields.compactMap { names(of: Self.key(of: $0, in: key)).first }
    }

    func names(of key: TextKey) -> [String] {
        let (exact, derived) = (exact(key), derived(key))
        return [derived, derived == exact ? nil : exact].compactMap { $0 }
    }

    /// Without a prefix, most variables belong to other programs.
    func notes(aboutUnused items: [String], names: [String]) -> [NameNote] {
        if prefix.isEmpty || items.isEmpty { return [] }
        func rest(_ name: String) -> String { String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) }
        let words = NearestWord(among: names.map(rest))
        return items.map { item in
            // People write the derived name, also if the exact one is nearer.
            let near = words.nearest(to: rest(item)).map { KeyWords($0).variable ?? $0 }
            return NameNote(
                place: item,
                reason: "no key has this variable"
                    + (near.map { "; did you mean \"\(ShownText.line(prefix + $0, longest: 80))\"?" } ?? ""))
        }
    }

    private func exact(_ key: TextKey) -> String {
        prefix
            + String(
                String.UnicodeScalarView(
                    key.name.unicodeScalars.map {
                        $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) ? $0 : "_"
                    }))
    }

    private func derived(_ key: TextKey) -> String? { KeyWords(key.name).variable.map { prefix + $0 } }

    /// Files that are mounted as variables end with a newline that nobody means.
    private static func withoutNewline(_ text: String) -> String {
        var scalars = text.unicodeScalars
        guard scalars.last == "\n" else { return text }
        scalars.removeLast()
        if scalars.last == "\r" { scalars.removeLast() }
        return String(scalars)
    }
}
