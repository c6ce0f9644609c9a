import PersistentPreferences
import PrefsPropertyLists

/// A layer of text, with the names that the keys of each class have in it.
final class TextLayer: Sendable {
    private let source: any TextSource
    /// The texts of the classes that have read the layer. Made once for each, because the texts never change.
    private let known = Locked<[ClassIdentity: KeyTexts]>([:])

    init(_ source: any TextSource) {
        self.source = source
    }

    /// The arguments; nil if the texts are others.
    var arguments: ArgumentSource? { source as? ArgumentSource }

    /// The text of a key, those of its fields, and the name that it shares with another key, if any.
    func entry(
        forKey key: String, in declarations: ClassDeclarations
    ) -> (text: LayerText?, fields: [String: LayerText], sharedName: NameNote?) {
        var texts = texts(of: declarations)
        if declarations[key] == nil {
            texts = source.texts(for: Self.keys(declarations.allowed.list + [key], declarations))
        }
        return (texts.texts[key], texts.fields[key] ?? [:], texts.sharedNames[key])
    }

    private func texts(of declarations: ClassDeclarations) -> KeyTexts {
        let identity = ClassIdentity(object: declarations)
        if let texts = known.withLock({ $0[identity] }) { return texts }
        let texts = source.texts(for: Self.keys(declarations.allowed.list, declarations))
        known.withLock { known in
            // Bounded, because handles of single keys have declarations of their own.
            if known.count >= 4_096 { known = [:] }
            known[identity] = texts
        }
        return texts
    }

    /// What a person should know: names that keys share, variables that are ignored, and names that no key of any
    /// class has.
    ///
    /// - Parameter list: all keys of an instance.
    func notes(forKeys list: [String], in declarations: ClassDeclarations) -> [NameNote] {
        let keys = Self.keys(list, declarations)
        let own = source.texts(for: keys)
        let used = known.withLock { $0.values.reduce(into: own.used) { $0.formUnion($1.used) } }
        let names = keys.flatMap { source.names(of: $0) + source.namesOfFields(of: $0) }
        let unused = source.items.indices.filter { !used.contains($0) }
        return Set(own.sharedNames.values).sorted { $0.place < $1.place } + own.notes
            + source.notes(aboutUnused: unused.map { source.items[$0] }, names: names)
    }

    /// All names of a key, the one for people first.
    func names(ofKey key: String, in declarations: ClassDeclarations) -> [String] {
        Self.keys([key], declarations).flatMap(source.names)
    }

    /// Keys for a source. A key may be in a list twice: declared and in an override of `allowedKeys`.
    static func keys(_ list: [String], _ declarations: ClassDeclarations) -> [TextKey] {
        var seen: Set<String> = []
        return list.filter { StreamSafeText.isSafe($0) && seen.insert($0).inserted }.map { key in
            let property = declarations[key]?.property
            let type = property.map { ($0.valueType as? any OptionalValue.Type)?.wrappedType ?? $0.valueType }
            return TextKey(
                name: key, isFlag: type == Bool.self, isList: type is any ListValue.Type,
                fields: property.map(fields) ?? [])
        }
    }

    /// The fields that the default of a struct has in its stored form. A dictionary has members, and no fields.
    private static func fields(of property: any DeclaredProperty) -> [String] {
        SectionFields(of: property.anyDefaultValue, storedAs: property.storedDefault)?.names.sorted() ?? []
    }
}

/// The declarations of a class as a key of a dictionary. Keeps them, because those of a handle of one key may be
/// released.
struct ClassIdentity: Hashable, Sendable {
    let object: ClassDeclarations

    static func == (left: ClassIdentity, right: ClassIdentity) -> Bool { left.object === right.object }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
