import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// A text from outside that is not a value of a type.
struct TextMismatch {
    private let text: String
    private let forms: TextForms
    private let type: Any.Type
    /// A valid text of the type, such as the text of the default.
    private let example: String?

    init(_ text: String, _ forms: TextForms, of type: Any.Type, example: String?) {
        self.text = text
        self.forms = forms
        self.example = example
        self.type = (type as? any OptionalValue.Type)?.wrappedType ?? type
    }

    /// One clause, such as `expected Int8, found "300": out of range for Int8 (-128...127)`. The text is shortened.
    var reason: String {
        let form = form.map { " (such as \($0))" } ?? ""
        return "expected \(type)\(form), found \"\(ShownText.line(text, longest: 40))\""
            + (cause.map { ": \($0)" } ?? "")
    }

    /// An accepted text, if the name of the type does not explain the form.
    private var form: String? {
        if forms.flaw != nil || type is any Numeric.Type { return nil }
        if type == Date.self { return "2026-11-23 or 2026-11-23T10:00:00Z" }
        if type == Data.self { return "SGVsbG8=, which is base64" }
        return example.flatMap { $0.utf8.count > 60 || ["", "[]", "{}"].contains($0) ? nil : $0 }
    }

    /// A more precise cause; nil if the type is the whole reason.
    private var cause: String? {
        if let flaw = forms.flaw { return "invalid JSON: \(flaw)" }
        if let integers = type as? any FixedWidthInteger.Type {
            // JSON with a whole number of more than 64 bits is rejected here.
            // Double reads hexadecimal digits and names, too.
            let isDecimal = text.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "-.eE".utf8.contains($0)
            }
            return switch forms.number ?? (isDecimal ? Double(text) : nil) {
            case nil: "not a number"
            case let number? where number == number.rounded(): "out of range for \(type) (\(Self.range(integers)))"
            default: "not a whole number"
            }
        }
        if type is any BinaryFloatingPoint.Type { return forms.number == nil ? "not a number" : nil }
        return nil
    }

    private static func range<Number: FixedWidthInteger>(_ type: Number.Type) -> String { "\(type.min)...\(type.max)" }
}
