import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers

/// A type of property lists, by the name that `ValueText.typeName` returns.
enum PropertyListType: String, CaseIterable {
    case string, integer, float, boolean, date, data, array, dictionary

    var isContainer: Bool { self == .array || self == .dictionary }

    /// The text of the value of a new entry.
    private var initialText: String {
        switch self {
        case .string, .data: ""
        case .integer: "0"
        case .float: "0.0"
        case .boolean: "false"
        case .date: "2001-01-01T00:00:00Z"
        case .array: "[]"
        case .dictionary: "{}"
        }
    }

    var initialValue: StoredValue { reading(of: initialText) ?? .string(initialText) }

    /// The type of a value; nil for a reference of a keyed archive.
    init?(of value: StoredValue) { self.init(rawValue: ValueText.typeName(value)) }

    /// The values that a text may stand for: as the type of another value, then as JSON, then as a string.
    static func readings(of text: String, like other: StoredValue?) -> [StoredValue] {
        let alike = other.flatMap(Self.init(of:))?.reading(of: text)
        let json = try? ExportFormat.value(ofJSON: Data(text.utf8))
        return [alike, json, .string(text)].compactMap { $0 }
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

    /// Another value as this type; the initial value if its text has no reading as this type.
    func converted(from value: StoredValue) -> StoredValue { reading(of: Self.text(of: value)) ?? initialValue }

    /// The text that reads as exactly this value.
    static func text(of value: StoredValue) -> String {
        let type = PropertyListType(rawValue: ValueText.typeName(value))
        return TextForms.text(of: value) { type?.reading(of: $0) == value }
    }
}
