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
        if let parts = text.wholeMatch(of: /([0-9-]{10}) ([0-9:]{8}) ([+-][0-9]{4})/)?.output {
            return date("\(parts.1)T\(parts.2)\(parts.3)")
        }
        let format =
            /([0-9]{4}-[0-9]{2}-[0-9]{2})(?:(T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(?:Z|[+-][0-9]{2}(?::?[0-5][0-9])?))?/
        guard let (_, day, time, fraction) = text.wholeMatch(of: format)?.output else { return nil }
        // Foundation's style uses the Julian calendar before 1582; property lists use the Gregorian calendar.
        if let seconds = JSONDate.interval(of: "\(day)\(time ?? "T00:00:00")\(fraction ?? "")Z"),
            seconds < JSONText.startOfGregorianCalendar
        {
            return time == nil || text.hasSuffix("Z") ? Date(timeIntervalSinceReferenceDate: seconds) : nil
        }
        let plain = Date.ISO8601FormatStyle()
        let clock = day + (time ?? "T00:00:00") + "Z"
        // The parser reads 30 February as 2 March. Formatting the date again reveals that.
        guard let date = try? plain.parse(String(clock)), plain.format(date) == clock else { return nil }
        guard time != nil else { return date }
        return try? Date.ISO8601FormatStyle(includingFractionalSeconds: fraction != nil).parse(text)
    }
}

extension Data {
    /// Two hexadecimal digits per byte.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
