import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsPropertyLists

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
