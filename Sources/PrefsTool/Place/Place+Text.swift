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
        func checked(_ reading: StoredValue) throws -> StoredValue {
            let whole = try path.value(base, with: reading)
            try whole.map { try check($0, forKey: path.root, over: values[path.root]) }
            return reading
        }
        guard prefs != nil else {
            if old?.string == nil, old.map(ValueText.typeName) != "float" {
                try PropertyListType.checkGuess(text, read: readings[0])
            }
            return spelled(readings[0], text)
        }
        if text == "null", acceptsNil(at: path, in: base) { return .null }
        // If no reading fits, the first one says why.
        return try readings.lazy.compactMap { try? checked($0) }.first ?? checked(readings[0])
    }

    /// Whether a place in a value is optional. In another place, a null reads as the default.
    private func acceptsNil(at path: ValuePath, in base: StoredValue?) -> Bool {
        guard let prefs, let whole = try? path.value(base, with: .null),
            let read = try? prefs.canonical(whole, forKey: path.root, from: .json)
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

    /// A value of a JSON file, with its numbers as the text spells them.
    func spelled(_ value: StoredValue, _ text: String) -> StoredValue {
        func reading(isSpelled: Bool) -> StoredValue? {
            try? ExportFormat.value(ofJSON: Data(text.utf8), keepsNulls: true, isSpelled: isSpelled)
        }
        return keepsNulls && reading(isSpelled: false) == value ? reading(isSpelled: true) ?? value : value
    }

    /// A value that the file has at a place, with its numbers as the file spells them.
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

    /// - Parameter former: the replaced value. It may have fields of another version of the program.
    /// - Throws: why the value of a declared key does not fit: its type, its constraint, or a new field that its type
    ///   does not have. A value that has fewer faults than the replaced one is accepted.
    func check(_ value: StoredValue, forKey key: String, over former: StoredValue?) throws {
        guard let prefs else { return }
        if let mismatch = prefs.mismatch(of: value, forKey: key) {
            if let former, prefs.isMended(former, by: value, forKey: key) { return }
            throw PrefsError.typeMismatch([mismatch])
        }
        guard let (path, near) = Self.unknownFields(in: value, of: key, prefs, over: former).first else { return }
        throw CommandError(
            "no field `\(ShownText.key(path.text))`\(Suggestion.text(path.lastName, among: near))")
    }

    /// The fields of a value that its type does not know, and the names of the known fields beside each.
    ///
    /// - Parameter former: a value whose fields are accepted.
    static func unknownFields(
        in value: StoredValue, of key: String, _ prefs: PersistentPrefs, over former: StoredValue? = nil
    ) -> [(path: ValuePath, known: [String])] {
        guard let read = prefs.readValue(of: value, forKey: key) else { return [] }
        return unknownFields(
            in: (try? prefs.canonical(value, forKey: key, from: .json)) ?? value, read: read, over: former,
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

    /// Converts the values of an export, or of a file that a person has written, to the forms of the declared
    /// properties.
    ///
    /// - Throws: `PrefsError` with everything that does not fit.
    func importable(_ values: [String: StoredValue]) throws(PrefsError) -> [String: StoredValue] {
        guard let prefs else { return values }
        var (result, failures) = (values, [PropertyListFailure]())
        for (key, value) in values {
            do throws(PrefsError) { result[key] = try prefs.storable(value, forKey: key) } catch {
                failures += error.failures
            }
        }
        if failures.isEmpty { return result }
        throw .typeMismatch(failures.sorted { $0.path < $1.path })
    }
}

/// A type of property lists, by the name that `ValueText.typeName` returns.
enum PropertyListType: String, CaseIterable {
    case string, integer, float, boolean, date, data, array, dictionary

    /// The type of a value; nil for a reference of a keyed archive.
    init?(of value: StoredValue) { self.init(rawValue: ValueText.typeName(value)) }

    /// The values that a text may stand for: as a string in quotes, as null where a file has nulls, as an object or a
    /// list of JSON, as the type of another value, then as other JSON, then as a string.
    static func readings(of text: String, like other: StoredValue?, keepsNulls: Bool = false) -> [StoredValue] {
        let alike = other.flatMap(Self.init(of:))?.reading(of: text)
        let json = try? ExportFormat.value(ofJSON: Data(text.utf8), keepsNulls: keepsNulls)
        let null: StoredValue? = keepsNulls && text == "null" ? .null : nil
        // A scalar follows the value that it replaces, or the elements beside it: 1.10 among texts is a text.
        let container = json?.isContainer == true ? json : nil
        return [quoted(text), null, container, alike, json, .string(text)].compactMap { $0 }
    }

    /// The string that a text in the quotes of JSON stands for, as `get --json` prints it; nil for other texts.
    static func quoted(_ text: String) -> StoredValue? {
        guard text.utf8.first == UInt8(ascii: "\"") else { return nil }
        return try? ExportFormat.value(ofJSON: Data(text.utf8))
    }

    /// Rejects a text that would be stored as a string or as another number, although it was probably meant as another
    /// value.
    static func checkGuess(_ text: String, read value: StoredValue) throws(CommandError) {
        let shown = "`\(ShownText.key(text))`"
        let isNumber = NumberText.isNumber(text, isStrict: true)
        // JSON holds numbers of any size, but no type of a program does.
        let isExact =
            if case .real(let number) = value.plain { number.isFinite && !NumberText.isWhole(text) } else {
                value != .string(text)
            }
        if isNumber, !isExact {
            let number = value.isDecimal ? "-t json stores the number, " : ""
            throw CommandError("\(shown) is beyond the range of numbers; \(number)-t string stores the text")
        }
        guard value == .string(text) else { return }
        if let flaw = TextForms(text).flaw {
            throw CommandError("\(shown) is not JSON: \(flaw); -t string stores the text")
        }
        if text == "null" {
            throw CommandError(
                "null cannot be stored in a property list; unset removes a value, -t string stores the text")
        }
        if ["true", "false", "null"].contains(text.lowercased()) {
            throw CommandError("\(shown) is not JSON; write \(text.lowercased()), or -t string stores the text")
        }
    }

    /// The value of this type that a text stands for.
    ///
    /// - Throws: `UsageError` that names an accepted form.
    func value(of text: String) throws(UsageError) -> StoredValue {
        guard let value = reading(of: text) else {
            throw UsageError("expected \(form), found \"\(ShownText.key(text))\"")
        }
        return value
    }

    private var form: String {
        switch self {
        case .string: "a text"
        case .integer: "a 64-bit integer such as 42 or -7"
        case .float: "a number such as 12.5"
        case .boolean: "true or false"
        case .date: "a date such as 2026-11-23 or 2026-11-23T10:00:00Z"
        case .data: "a base64 text such as SGVsbG8="
        case .array: #"a list such as a,b or ["a","b"]"#
        case .dictionary: #"a dictionary such as k=v or {"k":"v"}"#
        }
    }

    private func reading(of text: String) -> StoredValue? {
        if self == .string { return .string(text) }
        let forms = TextForms(text)
        if let value = forms.values.dropFirst().first(where: { ValueText.typeName($0) == rawValue }) { return value }
        switch self {
        // A whole number is a float, too.
        case .float: return forms.number.map { StoredValue($0) }
        case .date: return ValueText.date(text).map(StoredValue.date)
        case .boolean: return ["1": .bool(true), "0": .bool(false)][text]
        default: return nil
        }
    }

    /// The text that reads as exactly this value.
    static func text(of value: StoredValue) -> String {
        let type = PropertyListType(rawValue: ValueText.typeName(value))
        return TextForms.text(of: value) { type?.reading(of: $0) == value }
    }
}

/// Adds to numbers of any width, exactly or not at all.
enum Arithmetic {
    /// The sum of a stored number and a text; nil if the value is not a number.
    ///
    /// - Throws: `CommandError` if the text is not a number, or if the sum cannot be represented.
    static func sum(of value: StoredValue, and text: String, _ name: String) throws -> StoredValue? {
        let place = "`\(ShownText.key(name))`"
        switch value {
        case .integer, .unsigned: return try sum(of: Decimal(storable: value) ?? 0, and: text, place)
        case .decimal(let old):
            guard let sum = try sum(ofDecimal: value, and: text, name)?.string else {
                return try self.sum(of: value.plain, and: text, name)
            }
            let ending = old.contains(".") && !sum.contains(".") ? ".0" : ""
            return try ExportFormat.value(ofJSON: Data((sum + ending).utf8), keepsNulls: true)
        case .real(let old):
            guard let amount = Double(text), amount.isFinite else {
                throw CommandError("expected a number such as 0.5, found \"\(ShownText.key(text))\"")
            }
            let sum = old + amount
            guard sum.isFinite else { throw CommandError("\(place): the sum is too large for a number") }
            guard (sum != old || amount == 0) && (sum != amount || old == 0) else {
                throw CommandError(
                    "\(place) has too many digits, so adding \(ShownText.key(text)) would \(sum == old ? "change nothing" : "lose it")"
                )
            }
            return StoredValue(sum)
        default: return nil
        }
    }

    /// The sum of a stored Decimal and a text; nil if one of them is not a decimal number.
    ///
    /// - Throws: `CommandError` if the sum has more digits than a Decimal.
    static func sum(ofDecimal stored: StoredValue, and text: String, _ name: String) throws -> StoredValue? {
        guard let old = Decimal(storable: stored), let amount = Decimal(storable: .string(text)) else { return nil }
        // Foundation rounds a sum that has too many digits.
        let sum = old + amount
        guard sum.isFinite, sum - amount == old, sum - old == amount else {
            throw CommandError("`\(ShownText.key(name))`: the sum has more than 38 digits")
        }
        return sum.storable
    }

    /// - Parameter old: an integer of 64 bits. A Decimal has room for the exact sum of two.
    private static func sum(of old: Decimal, and text: String, _ place: String) throws -> StoredValue {
        guard let amount = Int64(text).map({ Decimal($0) }) ?? UInt64(text).map({ Decimal($0) }) else {
            throw CommandError("expected a 64-bit integer such as 1 or -7, found \"\(ShownText.key(text))\"")
        }
        let sum = "\(old + amount)"
        guard let value = Int64(sum).map(StoredValue.integer) ?? UInt64(sum).map({ StoredValue($0) }) else {
            throw CommandError("\(place): the sum is beyond 64 bits")
        }
        return value
    }
}
