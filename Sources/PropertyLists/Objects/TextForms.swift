import Foundation

/// The property-list objects that a text from outside may stand for, such as the value of an environment variable. The type of a
/// property decides which one is meant: the first that it can read.
package struct TextForms {
    /// The text itself, then what its form suggests. In canonical form.
    package private(set) var objects: [Any]
    /// Why the text begins like JSON and is not; nil if it is JSON, or does not begin like it.
    package private(set) var flaw: String?

    package init(_ text: String) {
        objects = [text]
        let trimmed = Self.trimmed(text[...])
        if trimmed.utf8.first == UInt8(ascii: "[") || trimmed.utf8.first == UInt8(ascii: "{") {
            do throws(DecodingFailure) {
                objects.append(try JSONReader.value(of: Data(trimmed.utf8)))
            } catch {
                flaw = error.reason
            }
            return
        }
        if let scalar = Self.scalar(trimmed) { objects.append(scalar) }
        let parts = trimmed.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { Self.trimmed(Substring($0)) }
        let elements: [Any] = trimmed.isEmpty ? [] : parts
        objects.append(elements)
        let scalars = trimmed.isEmpty ? [] : parts.compactMap(Self.scalar)
        if !scalars.isEmpty, scalars.count == parts.count { objects.append(scalars) }
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
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
            return nil
        }
        if let interval = JSONDate.interval(of: text) { return Date(timeIntervalSinceReferenceDate: interval) }
        return try? JSONReader.value(of: Data(text.utf8))
    }
}
