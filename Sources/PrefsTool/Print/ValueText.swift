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

    /// Returns the name of the type in property lists.
    static func typeName(_ value: StoredValue) -> String {
        switch value {
        case .string: "string"
        case .bool: "boolean"
        case .integer, .unsigned: "integer"
        case .real: "float"
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
        if let parts = text.wholeMatch(of: /([0-9-]{10}) ([0-9:]{8}) ([+-][0-9]{4})/)?.output {
            return date("\(parts.1)T\(parts.2)\(parts.3)")
        }
        return JSONDate.date(text)
    }
}

extension Data {
    /// Two hexadecimal digits per byte.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
