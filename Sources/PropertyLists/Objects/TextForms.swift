import Foundation

/// The property-list objects that a text from outside may stand for, such as the value of an environment variable. The type of a
/// property decides which one is meant: the first that it can read.
///
/// | object | text |
/// |---|---|
/// | string | itself |
/// | number | as in JSON, and `nan`, `inf`, `-inf` |
/// | Boolean | `true`, `yes`, `on`, `false`, `no`, `off` in any case |
/// | date | `2026-11-21T19:02:43.25Z` |
/// | data | base64 |
/// | array | `a,b`, `1,2`, or JSON |
/// | any object that is no string | the JSON of an export |
package struct TextForms {
    package let text: String
    /// The text itself, then what its form suggests. In canonical form.
    package private(set) var objects: [Any]
    /// Why the text begins like JSON and is not; nil if it is JSON, or does not begin like it.
    package private(set) var flaw: String?
    /// The object of JSON, of a number, of a Boolean or of a date; nil if the text has none of these forms.
    package private(set) var typed: Any?

    package init(_ text: String) {
        self.text = text
        objects = [text]
        let trimmed = Self.trimmed(text[...])
        if trimmed.utf8.first == UInt8(ascii: "[") || trimmed.utf8.first == UInt8(ascii: "{") {
            do throws(DecodingFailure) {
                let value = try JSONReader.value(of: Data(trimmed.utf8))
                typed = value
                objects.append(value)
            } catch {
                flaw = error.reason
            }
            return
        }
        if let scalar = Self.scalar(trimmed) {
            typed = scalar
            objects.append(scalar)
        }
        let parts = trimmed.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { Self.trimmed(Substring($0)) }
        let elements: [Any] = trimmed.isEmpty ? [] : parts
        objects.append(elements)
        let scalars = trimmed.isEmpty ? [] : parts.compactMap(Self.scalar)
        if !scalars.isEmpty, scalars.count == parts.count { objects.append(scalars) }
        // Last, because other words are base64, too.
        if let data = Data(base64Encoded: trimmed) { objects.append(data) }
    }

    /// The text of an object in canonical form.
    ///
    /// - Parameter isExact: whether a text reads as the object. If the usual text does not, the result is JSON.
    package static func text(of object: Any, if isExact: (String) -> Bool) -> String {
        if let text = object as? String { return text }
        if let text = usualText(of: object), isExact(text) { return text }
        return JSONWriter.line(of: object)
    }

    private static func usualText(of object: Any) -> String? {
        switch CanonicalForm(object) {
        case .text(let text): text
        case .bool(let bool): bool ? "true" : "false"
        case .number(let number): text(of: CanonicalNumber(number))
        case .date(let date): JSONDate.text(of: date.timeIntervalSinceReferenceDate)
        case .data(let data): data.base64EncodedString()
        case .list, .dictionary, .uid, .foreign: nil
        }
    }

    private static func text(of number: CanonicalNumber) -> String {
        switch number {
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): value.description
        case .unsigned(let value): value.description
        case .double(let bits): Double(bitPattern: bits).description
        }
    }

    /// The number that the text is; nil if it is none.
    package var number: Double? {
        objects.lazy.compactMap { object in
            switch CanonicalNumber(object: object) {
            case .integer(let value): Double(value)
            case .unsigned(let value): Double(value)
            case .double(let bits): Double(bitPattern: bits)
            case .bool, nil: nil
            }
        }.first
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: .whitespaces)
    }

    /// A number as in JSON, a Boolean or a date.
    private static func scalar(_ text: String) -> Any? {
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: break
        }
        if let number = JSONForm.nonfinite.first(where: { $0.name == text }) {
            return CanonicalNumber(number.value).object
        }
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
            return nil
        }
        if let interval = JSONDate.interval(of: text) { return Date(timeIntervalSinceReferenceDate: interval) }
        return try? JSONReader.value(of: Data(text.utf8))
    }
}
