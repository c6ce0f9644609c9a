import Foundation
import PersistentPreferences

/// A type of property lists, by the name that `ValueText.typeName` returns.
enum PropertyListType: String, CaseIterable {
    case string, integer, float, boolean, date, data, array, dictionary

    var isContainer: Bool { self == .array || self == .dictionary }

    /// The text of what a new entry holds.
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

    /// The value of this type that a text stands for.
    ///
    /// - Throws: `CommandError`.
    func value(of text: String) throws -> StoredValue {
        guard let value = reading(of: text) else {
            throw CommandError("expected \(article) \(self), found \"\(ShownText.key(text))\"")
        }
        return value
    }

    private var article: String { self == .integer || self == .array ? "an" : "a" }

    private func reading(of text: String) -> StoredValue? {
        if self == .string { return .string(text) }
        let forms = TextForms(text)
        if let value = forms.values.dropFirst().first(where: { ValueText.typeName($0) == rawValue }) { return value }
        switch self {
        // A whole number is a float, too.
        case .float: return forms.number.map { StoredValue($0) }
        case .date: return ValueText.date(text).map(StoredValue.date)
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
