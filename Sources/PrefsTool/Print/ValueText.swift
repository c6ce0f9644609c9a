import Foundation
import PersistentPreferences
import PrefsJSON

/// Parses values from the command line, and prints them.
enum ValueText {
    /// Returns a value on one line: strings and dates without quotes, containers as JSON.
    static func line(_ value: StoredValue) -> String {
        switch value {
        case .string(let text): text
        case .date(let date): JSONText.date(date)
        default: value.json
        }
    }

    /// The text for a search. Data is shown as hexadecimal digits.
    static func searchText(_ value: StoredValue) -> String {
        if case .data(let data) = value { data.hexadecimal } else { line(value) }
    }

    /// The format of the output of `line(_:)`.
    static func format(_ value: StoredValue) -> OutputFormat {
        switch value {
        case .string, .date: .value
        default: .json
        }
    }

    /// `1 byte`, `2 bytes`
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns the name of the type in property lists.
    static func typeName(_ value: StoredValue) -> String {
        switch value {
        case .string: "string"
        case .bool: "boolean"
        case .integer, .unsigned: "integer"
        case .real, .decimal: "float"
        case .date: "date"
        case .data: "data"
        case .array: "array"
        case .dictionary: "dictionary"
        case .uid: "keyed-archive reference"
        case .foreign: "object"
        case .null: "null"
        }
    }

    static func date(_ text: String) -> Date? {
        // As `defaults` prints it: 2026-11-20 08:30:00 +0000.
        let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        if parts.map(\.count) == [10, 8, 5] {
            return JSONDate.date("\(Substring(parts[0]))T\(Substring(parts[1]))\(Substring(parts[2]))")
        }
        return JSONDate.date(text)
    }
}

extension Data {
    /// Two hexadecimal digits per byte.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

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

/// A piece of JSON that is ready to print, for example an object whose members keep their order.
struct JSONText: JSONPrintable {
    let json: String

    /// Returns an object with its members in the given order.
    static func object(_ members: [(name: String, value: any JSONPrintable)]) -> JSONText {
        JSONText(json: "{" + members.map { "\($0.name.json):\($0.value.json)" }.joined(separator: ",") + "}")
    }

    /// Returns ISO 8601 in UTC, rounded to milliseconds. Omits the fraction if it is zero.
    static func date(_ date: Date) -> String {
        let interval = (date.timeIntervalSinceReferenceDate * 1_000).rounded() / 1_000
        let text = JSONDate.text(of: interval) ?? date.formatted(Date.ISO8601FormatStyle())
        guard let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")), text.utf8.last == UInt8(ascii: "Z") else {
            return text
        }
        let fraction = text[dot...].dropLast()
        return text[..<dot] + (fraction + "00").prefix(4) + "Z"
    }
}
