import Foundation
import PrefsJSON
package import PrefsPropertyLists

/// The values that a text from outside may stand for, such as the value of an environment variable. The type of a
/// property decides: the first value that it can read is meant.
///
/// The section "Text" of the article "Layers" has the grammar, and the tests have each form in `TextTable`.
package struct TextForms {
    package let text: String
    /// The text itself, then the values that its form suggests.
    package private(set) var values: [StoredValue]
    /// Why a text that begins like JSON is not JSON; nil if it is JSON, or does not begin like it.
    package private(set) var flaw: String?
    /// The value of JSON, a number, a Boolean or a date; nil for other texts.
    package private(set) var typed: StoredValue?

    package init(_ text: String) {
        self.text = text
        values = [.string(text)]
        let trimmed = Self.trimmed(text[...])
        if trimmed.utf8.first == UInt8(ascii: "[") || trimmed.utf8.first == UInt8(ascii: "{") {
            do throws(PropertyListFault) {
                let value = try JSONReader.value(of: Data(trimmed.utf8))
                typed = value
                values.append(value)
            } catch {
                flaw = "\(error)"
            }
            return
        }
        if let scalar = Self.scalar(trimmed) {
            typed = scalar
            values.append(scalar)
        }
        let parts = trimmed.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { Self.trimmed(Substring($0)) }
        values.append(.array(trimmed.isEmpty ? [] : parts.map(StoredValue.string)))
        let scalars = trimmed.isEmpty ? [] : parts.compactMap(Self.scalar)
        if !scalars.isEmpty, scalars.count == parts.count { values.append(.array(scalars)) }
        values += (trimmed.isEmpty ? [[:]] : Self.dictionaries(of: parts)).map(StoredValue.dictionary)
        // Added last, because other words are base64, too.
        if let data = Data(base64Encoded: trimmed) { values.append(.data(data)) }
    }

    /// The pairs as a dictionary of texts, then as a dictionary of scalars. Empty if a part is not a pair, or if a key
    /// is repeated.
    private static func dictionaries(of parts: [String]) -> [[String: StoredValue]] {
        var texts: [String: StoredValue] = [:]
        var scalars: [String: StoredValue] = [:]
        for part in parts {
            // Splits between scalars, because a value may begin with a combining mark.
            let pair = part.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, StreamSafeText.isSafe(String(pair[0])) else { return [] }
            let (key, value) = (String(pair[0]), String(pair[1]))
            guard texts.updateValue(.string(value), forKey: key) == nil else { return [] }
            scalars[key] = scalar(value)
        }
        return scalars.count == texts.count ? [texts, scalars] : [texts]
    }

    /// The text of a value.
    ///
    /// - Parameter isExact: whether a text reads as the value. If the usual text does not read as the value, the result
    ///   is JSON.
    package static func text(of value: StoredValue, if isExact: (String) -> Bool) -> String {
        if case .string(let text) = value { return text }
        if let text = usualText(of: value), isExact(text) { return text }
        return JSONWriter.line(of: value)
    }

    private static func usualText(of value: StoredValue) -> String? {
        switch value {
        case .string(let text): text
        case .bool(let bool): bool ? "true" : "false"
        case .date(let date): JSONDate.text(of: date.timeIntervalSinceReferenceDate)
        case .data(let data): data.base64EncodedString()
        default: value.numberText
        }
    }

    /// The number of the text; nil if the text is not a number.
    package var number: Double? { values.lazy.compactMap(\.nearestDouble).first }

    /// The text without the blanks around it. Foundation's way costs 700,000 instructions at its first use.
    private static func trimmed(_ text: Substring) -> String {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "\t" || scalar.properties.generalCategory == .spaceSeparator
        }
        let rest = text.unicodeScalars.drop(while: isBlank)
        return String(rest[..<(rest.lastIndex { !isBlank($0) }.map(rest.index(after:)) ?? rest.startIndex)])
    }

    /// A number as in JSON, a Boolean or a date.
    private static func scalar(_ text: String) -> StoredValue? {
        switch text.lowercased() {
        case "true", "yes", "on": return .bool(true)
        case "false", "no", "off": return .bool(false)
        default: break
        }
        if let number = JSONForm.nonfinite.first(where: { $0.name == text }) {
            return .real(number.value)
        }
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
            return nil
        }
        if let date = JSONDate.date(text) { return .date(date) }
        return try? JSONReader.value(of: Data(text.utf8))
    }
}
