import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsPropertyLists

/// A key of a class, as the tool shows it.
struct PrefsKey {
    /// The key that the value is stored under.
    let name: String
    /// The name of the declared property; the key itself without one.
    let shortName: String
    /// The declaration; nil for a key that the class lists without declaring a property.
    let description: PrefDescription?

    init(_ name: String, _ description: PrefDescription?) {
        self.name = name
        self.description = description
        shortName = description?.name ?? name
    }

    /// The name of the type in the class.
    var typeName: String { description.map { Self.sugared("\($0.valueType)") } ?? "any" }

    /// `[String: Int]?` for `Optional<Dictionary<String, Int>>`.
    private static func sugared(_ name: String) -> String {
        for (prefix, form) in [("Array<", "[*]"), ("Dictionary<", "[*]"), ("Optional<", "*?")] {
            guard name.hasPrefix(prefix), name.hasSuffix(">") else { continue }
            var parts = [""]
            var depth = 0
            for letter in name.dropFirst(prefix.count).dropLast() {
                depth += letter == "<" ? 1 : letter == ">" ? -1 : 0
                if letter == ",", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(letter) }
            }
            let inner = parts.map { sugared($0.trimmingCharacters(in: .whitespaces)) }.joined(separator: ": ")
            return form.replacing("*", with: inner)
        }
        return name
    }

    /// The key with a name: the name of the key itself or of its property.
    static func named(_ name: String, among keys: [PrefsKey]) -> PrefsKey? {
        keys.first { $0.name == name } ?? keys.first { $0.shortName == name }
    }

    /// The keys of a class: the declared properties in their order, then keys that are only listed.
    static func all(of prefs: PersistentPrefs) -> [PrefsKey] {
        let declared = type(of: prefs).describe().map { PrefsKey($0.key, $0) }
        let known = Set(declared.map(\.name))
        return declared + prefs.allowedKeyList.filter { !known.contains($0) }.map { PrefsKey($0, nil) }
    }
}

/// The questions of the tool for the declarations of any class.
extension PersistentPrefs {
    /// Whether the entries of the store are the keys, and there are no roots.
    var hasFlatLayout: Bool { state.roots.layout == .flat }

    /// Whether a key of its file belongs to this package or to other tools.
    func isOfTools(_ key: String) -> Bool {
        declarations.schema.ownKeys.contains(key) || state.roots.form.isKeyOfTools(key)
    }

    /// Whether its file has nulls.
    var hasNulls: Bool { state.roots.hasNulls }

    func isDecimal(_ key: String) -> Bool {
        guard let type = declarations[key]?.property.valueType else { return false }
        return type == Decimal.self || type == Decimal?.self
    }

    /// The stored form of the default of a declared property; nil for other keys, and for a default without a stored
    /// form.
    func storedDefault(forKey key: String) -> StoredValue? { declarations[key]?.property.storedDefault }

    /// Why a value cannot be stored under a key or cannot be read back: its type or the constraint. nil if it fits, and
    /// for a key without a declaration.
    func mismatch(of stored: StoredValue, forKey key: String) -> PropertyListFailure? {
        declarations[key]?.property.error(of: stored, forKey: key)?.failures.first
    }

    /// Whether the property of a key reads a stored value, so that only one that fits may replace it.
    func isReadable(_ stored: StoredValue, forKey key: String) -> Bool {
        guard let stored = stored.present() else { return true }
        return declarations[key]?.property.error(of: stored, forKey: key, as: state.roots.form) == nil
    }

    /// Converts a value of an export, or of a file that a person has written, to the form in which the property stores
    /// it.
    ///
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated` if it does not fit.
    func canonical(_ value: StoredValue, forKey key: String) throws(PrefsError) -> StoredValue {
        try declarations[key]?.property.canonical(value, forKey: key, from: .json) ?? value
    }

    /// The value that the program reads from a stored value. Missing fields are added, and fields that the type does
    /// not know are removed. nil if the stored value does not fit.
    func readValue(of stored: StoredValue, forKey key: String) -> StoredValue? {
        guard let property = declarations[key]?.property else { return stored }
        guard property.error(of: stored, forKey: key) == nil else { return nil }
        return try? property.canonical(stored, forKey: key, from: .exact, keepsUnknownFields: false)
    }

    /// The fields of a value that its type does not know, and the names of the known fields beside each.
    ///
    /// - Parameter former: a value whose fields are accepted.
    func unknownFields(
        in value: StoredValue, of key: String, over former: StoredValue? = nil
    ) -> [(path: ValuePath, known: [String])] {
        guard let read = readValue(of: value, forKey: key) else { return [] }
        return Self.unknownFields(
            in: (try? canonical(value, forKey: key)) ?? value, read: read, over: former,
            at: ValuePath(key))
    }

    private static func unknownFields(
        in stored: StoredValue, read: StoredValue, over former: StoredValue?, at path: ValuePath
    ) -> [(path: ValuePath, known: [String])] {
        switch (stored, read) {
        case (.dictionary(let stored), .dictionary(let read)):
            stored.sorted { $0.key < $1.key }.flatMap { key, value in
                let (place, before) = (path.appending(.key(key)), former?.dictionary?[key])
                guard let other = read[key] else { return before == nil ? [(place, read.keys.sorted())] : [] }
                return unknownFields(in: value, read: other, over: before, at: place)
            }
        case (.array(let stored), .array(let read)) where stored.count == read.count:
            stored.indices.flatMap { index in
                unknownFields(
                    in: stored[index], read: read[index], over: former?.array?[safe: index],
                    at: path.appending(.index(index)))
            }
        default: []
        }
    }
}
