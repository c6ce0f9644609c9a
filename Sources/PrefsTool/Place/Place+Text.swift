import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsPropertyLists

/// Converts texts and values, for `set`, `edit` and imports.
extension Place {
    /// The value that a text stands for at a place; nil if the value is to be removed.
    ///
    /// A text in the quotes of JSON is that string. A declared property reads any other text by its type. Inside its
    /// value, and in other domains, the first of these that fits is used: the type of the replaced value, JSON, a
    /// string.
    ///
    /// - Parameters:
    ///   - type: the type that the user names, if any.
    ///   - values: the values at the top.
    ///   - alike: a value whose type the text has; nil for the replaced value.
    /// - Throws: an error that says what was expected.
    func value(
        of text: String, at path: ValuePath, as type: PropertyListType?, in values: [String: StoredValue],
        like alike: StoredValue? = nil
    ) throws -> StoredValue? {
        if let type { return try type.value(of: text) }
        if path.steps.isEmpty, let prefs {
            let text = PropertyListType.quoted(text)?.string ?? text
            return try prefs.storedValue(ofText: text, forKey: path.root)
        }
        let base = base(of: path.root, in: values)
        let old = alike ?? path.value(in: base)
        // If the text replaces a whole array or dictionary without a declared type, `a,b` or `k=v` is a string, and the
        // change is confirmed.
        let readings = PropertyListType.readings(
            of: text, like: prefs == nil && old?.isContainer == true ? nil : old, keepsNulls: keepsNulls)
        guard prefs != nil else {
            if old?.string == nil, old.map(ValueText.typeName) != "float" {
                try PropertyListType.checkGuess(text, read: readings[0])
            }
            return readings[0]
        }
        func checked(_ reading: StoredValue) throws -> StoredValue {
            let whole = try path.value(base, with: reading)
            try whole.map { try check($0, forKey: path.root, over: values[path.root]) }
            return reading
        }
        // If no reading fits, the first one says why.
        return try readings.lazy.compactMap { try? checked($0) }.first ?? checked(readings[0])
    }

    /// Whether a place has a Decimal, which is stored as a string.
    func isDecimal(at path: ValuePath, in values: [String: StoredValue]) -> Bool {
        guard let prefs else { return false }
        if path.steps.isEmpty { return prefs.isDecimal(path.root) }
        // Another string fits, unless the string is a number.
        let whole = try? path.value(base(of: path.root, in: values), with: .string("x"))
        let mismatch = whole.flatMap { $0 }.flatMap { prefs.mismatch(of: $0, forKey: path.root) }
        return mismatch.map { $0.path != path.root } ?? false
    }

    /// - Parameter former: the replaced value. It may have fields of another version of the program.
    /// - Throws: why the value of a declared key does not fit: its type, its constraint, or a new field that its type
    ///   does not have. A value that has fewer faults than the replaced one is accepted.
    func check(_ value: StoredValue, forKey key: String, over former: StoredValue?) throws {
        guard let prefs else { return }
        if let mismatch = prefs.mismatch(of: value, forKey: key) {
            if let former, prefs.isMended(former, by: value, forKey: key) { return }
            throw PrefsError.typeMismatch([mismatch])
        }
        guard let (path, near) = Self.unknownField(in: value, of: key, prefs, over: former) else { return }
        throw CommandError(
            "no field `\(ShownText.key(path.text))`\(Suggestion.text(path.lastName, among: near))")
    }

    /// The first field of a value that its type does not know, and the names of the known fields beside it.
    ///
    /// - Parameter former: a value whose fields are accepted.
    static func unknownField(
        in value: StoredValue, of key: String, _ prefs: PersistentPrefs, over former: StoredValue? = nil
    ) -> (path: ValuePath, known: [String])? {
        prefs.readValue(of: value, forKey: key).flatMap { read in
            unknownField(
                in: (try? prefs.canonical(value, forKey: key, from: .json)) ?? value, read: read, over: former,
                at: ValuePath(key))
        }
    }

    private static func unknownField(
        in stored: StoredValue, read: StoredValue, over former: StoredValue?, at path: ValuePath
    ) -> (path: ValuePath, known: [String])? {
        switch (stored, read) {
        case (.dictionary(let stored), .dictionary(let read)):
            for (key, value) in stored.sorted(by: { $0.key < $1.key }) {
                let (place, before) = (path.appending(.key(key)), former?.dictionary?[key])
                guard let other = read[key] else {
                    if before != nil { continue }
                    return (place, read.keys.sorted())
                }
                if let found = unknownField(in: value, read: other, over: before, at: place) { return found }
            }
        case (.array(let stored), .array(let read)) where stored.count == read.count:
            for index in stored.indices {
                let place = path.appending(.index(index))
                let before = former?.array?[safe: index]
                if let found = unknownField(in: stored[index], read: read[index], over: before, at: place) {
                    return found
                }
            }
        default: break
        }
        return nil
    }

    /// Converts the values of an export, or of a file that a person has written, to the forms of the declared
    /// properties.
    ///
    /// - Throws: `PrefsError` with everything that does not fit.
    func importable(_ values: [String: StoredValue]) throws(PrefsError) -> [String: StoredValue] {
        guard let prefs else { return values }
        var (result, failures) = (values, [PropertyListFailure]())
        for (key, value) in values {
            do throws(PrefsError) { result[key] = try prefs.canonical(value, forKey: key, from: .json) } catch {
                failures += error.failures
            }
        }
        if failures.isEmpty { return result }
        throw .typeMismatch(failures.sorted { $0.path < $1.path })
    }
}
