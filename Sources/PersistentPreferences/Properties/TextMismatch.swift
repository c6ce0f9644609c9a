import PrefsPropertyLists

/// A text from outside that is not a value of a type.
struct TextMismatch {
    private let text: String
    private let forms: TextForms
    private let type: Any.Type

    init(_ text: String, _ forms: TextForms, of type: Any.Type) {
        self.text = text
        self.forms = forms
        self.type = (type as? any OptionalValue.Type)?.wrappedType ?? type
    }

    /// One clause, such as `expected Int8, found "300": out of range for Int8 (-128...127)`. The text is shortened.
    var reason: String {
        let expectation = "expected \(type), found \"\(ShownText.line(text, longest: 40))\""
        return expectation + (cause.map { ": \($0)" } ?? "")
    }

    /// nil if the type says no more.
    private var cause: String? {
        if let flaw = forms.flaw { return "invalid JSON: \(flaw)" }
        if let integers = type as? any FixedWidthInteger.Type {
            return switch forms.number {
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
