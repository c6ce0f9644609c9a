import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers

/// A type of property lists, by the name that `ValueText.typeName` returns.
enum PropertyListType: String, CaseIterable {
    case string, integer, float, boolean, date, data, array, dictionary

    /// The type of a value; nil for a reference of a keyed archive.
    init?(of value: StoredValue) { self.init(rawValue: ValueText.typeName(value)) }

    /// The values that a text may stand for: as a string in quotes, as null where a file has nulls, as the type of
    /// another value, then as JSON, then as a string.
    static func readings(of text: String, like other: StoredValue?, keepsNulls: Bool = false) -> [StoredValue] {
        let alike = other.flatMap(Self.init(of:))?.reading(of: text)
        let json = try? ExportFormat.value(ofJSON: Data(text.utf8), keepsNulls: keepsNulls)
        let null: StoredValue? = keepsNulls && text == "null" ? .null : nil
        return [quoted(text), null, alike, json, .string(text)].compactMap { $0 }
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
        let isNumber = text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil
        // JSON holds numbers of any size, but no type of a program does.
        let isExact =
            if case .real(let number) = value.plain { number.isFinite && text.contains(/[.eE]/) } else {
                value != .string(text)
            }
        if isNumber, !isExact {
            throw CommandError("\(shown) is beyond the range of numbers; -t string stores the text")
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
