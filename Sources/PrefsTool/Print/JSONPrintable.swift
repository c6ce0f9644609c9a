import Foundation
import PersistentPreferences
import PrefsJSON

/// A type that the tool can print as JSON: property-list values and the parts of reports. nil is printed as null.
protocol JSONPrintable {
    /// JSON on one line.
    var json: String { get }
}

/// Dates are ISO 8601, data is base64, infinities and NaN are strings.
extension StoredValue: JSONPrintable {
    var json: String {
        switch self {
        case .string(let text): text.json
        case .bool(let bool): bool.json
        case .integer(let number): number.description
        case .unsigned(let number): number.description
        case .real(let number): number.json
        case .decimal(let text): text
        case .date(let date): JSONText.date(date).json
        case .data(let data): data.base64EncodedString().json
        case .array(let elements): elements.json
        case .dictionary(let members): members.json
        case .uid(let uid): "{\"\(KeyedArchiveUID.key)\":\(uid.value)}"
        case .foreign: "object".json
        case .null: "null"
        }
    }
}

extension String: JSONPrintable { var json: String { JSONEscape.quoted(self) } }
extension Bool: JSONPrintable { var json: String { description } }
extension Int: JSONPrintable { var json: String { description } }

extension Double: JSONPrintable {
    /// A whole number has no fraction.
    var json: String {
        guard isFinite else { return description.json }
        let text = description
        return text.utf8.suffix(2).elementsEqual(".0".utf8) ? String(text.dropLast(2)) : text
    }
}

extension Optional: JSONPrintable where Wrapped: JSONPrintable {
    var json: String { self?.json ?? "null" }
}

extension Array: JSONPrintable where Element: JSONPrintable {
    var json: String { "[" + map(\.json).joined(separator: ",") + "]" }
}

extension Dictionary: JSONPrintable where Key == String, Value: JSONPrintable {
    /// The keys are sorted by their bytes. (`JSONSerialization` sorts by locale.)
    var json: String {
        JSONText.object(
            sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
        ).json
    }
}
