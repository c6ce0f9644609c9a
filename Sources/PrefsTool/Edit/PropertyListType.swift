import Foundation
import PersistentPreferences

/// A type of property lists, by the name that `ValueText.typeName` returns.
enum PropertyListType: String, CaseIterable {
    case string, integer, float, boolean, date, data, array, dictionary

    var isContainer: Bool { self == .array || self == .dictionary }

    /// What a new entry holds. In canonical form.
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

    var initialValue: Any { reading(of: initialText) ?? initialText }

    /// The value of this type that a text stands for.
    ///
    /// - Throws: `CommandError`.
    func value(of text: String) throws -> Any {
        guard let value = reading(of: text) else {
            throw CommandError("expected \(article) \(self), found \"\(ShownText.key(text))\"")
        }
        return value
    }

    private var article: String { self == .integer || self == .array ? "an" : "a" }

    private func reading(of text: String) -> Any? {
        if self == .string { return text }
        let objects = TextForms(text).objects.dropFirst()
        if let value = objects.first(where: { ValueText.typeName($0) == rawValue }) { return value }
        guard self == .float else { return self == .date ? ValueText.readings(of: text, like: Date()).first : nil }
        // A whole number is a float, too.
        guard let number = objects.first(where: { ValueText.typeName($0) == "integer" }) as? NSNumber else {
            return nil
        }
        return NSNumber(value: number.doubleValue)
    }

    /// Another value as this type; the initial value if its text has no reading as this type.
    func converted(from value: Any) -> Any { reading(of: Self.text(of: value)) ?? initialValue }

    /// The text that reads as exactly this value.
    static func text(of value: Any) -> String {
        let type = PropertyListType(rawValue: ValueText.typeName(value))
        return TextForms.text(of: value) { ValueText.areEqual(type?.reading(of: $0), value) }
    }
}
