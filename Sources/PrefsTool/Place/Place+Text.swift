import Foundation
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
            if text == "null", prefs.acceptsNil(forKey: path.root) { return try noValue(forKey: path.root, of: prefs) }
            let text = PropertyListType.quoted(text)?.string ?? text
            return try prefs.storedValue(ofText: text, forKey: path.root)
        }
        let base = base(of: path.root, in: values)
        let old = alike ?? path.value(in: base)
        // If the text replaces a whole array or dictionary without a declared type, `a,b` or `k=v` is a string, and the
        // change is confirmed.
        let readings = PropertyListType.readings(
            of: text, like: prefs == nil && old?.isContainer == true ? nil : old, keepsNulls: keepsNulls)
        func checked(_ reading: StoredValue, mustFit: Bool) throws -> StoredValue {
            let whole = try path.value(base, with: reading)
            try whole.map { try check($0, forKey: path.root, over: values[path.root], mustFit: mustFit) }
            return reading
        }
        guard prefs != nil else {
            if old?.string == nil, old.map(ValueText.typeName) != "float" {
                try PropertyListType.checkGuess(text, read: readings[0])
            }
            return readings[0]
        }
        if text == "null", acceptsNil(at: path, in: base) { return .null }
        // If no reading fits, the first one replaces a value that cannot be read, or says why.
        return try readings.lazy.compactMap { try? checked($0, mustFit: true) }.first
            ?? checked(readings[0], mustFit: false)
    }

    /// Whether a place in a value is optional. In another place, a null reads as the default.
    private func acceptsNil(at path: ValuePath, in base: StoredValue?) -> Bool {
        guard let prefs, let whole = try? path.value(base, with: .null),
            let read = try? prefs.canonical(whole, forKey: path.root)
        else { return false }
        return path.value(in: read).map { NilMarker.isMarker($0) } ?? true
    }

    /// What stands for nil of an optional property: nil, so that the value is removed, if its default is nil; else null.
    ///
    /// - Throws: `CommandError` if another default would be read, because the file has no nulls.
    func noValue(forKey key: String, of prefs: PersistentPrefs) throws(CommandError) -> StoredValue? {
        guard let fallback = prefs.storedDefault(forKey: key) else { return nil }
        if prefs.hasNulls { return .null }
        let shown = ValueText.line(secrets.shown(fallback, at: [key]))
        throw CommandError(
            "\(ShownText.key(key)): a property list has no null, and without a value the default \(shown) is read")
    }

    /// A value of a JSON file as the text spells it: its numbers, and objects that this package would write otherwise.
    func spelled(_ value: StoredValue, _ text: String) -> StoredValue {
        func reading(isSpelled: Bool) -> StoredValue? {
            try? ExportFormat.value(ofJSON: Data(text.utf8), keepsNulls: true, isSpelled: isSpelled)
        }
        return keepsNulls && reading(isSpelled: false) == value ? reading(isSpelled: true) ?? value : value
    }

    /// A value that the file has at a place, as the file spells it.
    func spelled(_ value: StoredValue, at path: ValuePath) -> StoredValue {
        guard keepsNulls, let bytes = stream?.bytes ?? file.flatMap({ try? ExportFile.read($0) }),
            path.value(in: values(ofJSON: try? ExportFormat.values(of: bytes, isFile: true))) == value,
            let spelled = path.value(in: values(ofJSON: ExportFormat.spelledValues(ofJSON: bytes)))
        else { return value }
        return spelled
    }

    private func values(ofJSON all: [String: StoredValue]?) -> [String: StoredValue] {
        (root.map { all?[$0]?.dictionary } ?? all) ?? [:]
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

    /// - Parameters:
    ///   - former: the replaced value. It may have fields of another version of the program.
    ///   - mustFit: if false, any value may replace one that its property cannot read.
    /// - Throws: why the value of a declared key does not fit: its type, its constraint, or a new field that its type
    ///   does not have.
    func check(
        _ value: StoredValue, forKey key: String, over former: StoredValue?, mustFit: Bool = false
    ) throws {
        guard let prefs else { return }
        if let mismatch = prefs.mismatch(of: value, forKey: key) {
            if !mustFit, let former, !prefs.isReadable(former, forKey: key) { return }
            throw PrefsError.mismatch(of: [mismatch])
        }
        guard let (path, near) = prefs.unknownFields(in: value, of: key, over: former).first else { return }
        throw CommandError(
            "no field `\(ShownText.key(path.text))`\(Suggestion.text(path.lastName, among: near))")
    }

    /// Converts the values of an export, or of a file that a person has written, to the forms of the declared
    /// properties.
    ///
    /// - Throws: `PrefsError` with everything that does not fit.
    func importable(_ values: [String: StoredValue]) throws(PrefsError) -> [String: StoredValue] {
        guard let prefs else { return values }
        var (result, failures) = (values, [PropertyListFailure]())
        for (key, value) in values {
            do throws(PrefsError) { result[key] = try prefs.canonical(value, forKey: key) } catch {
                failures += error.failures
            }
        }
        if failures.isEmpty { return result }
        throw .mismatch(of: failures.sorted { $0.path < $1.path })
    }
}
