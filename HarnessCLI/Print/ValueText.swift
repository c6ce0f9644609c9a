import Foundation
import PersistentPreferences

/// Parses values from the command line, and prints them.
enum ValueText {
    /// - Throws: `UsageError` if the text is not a value of the type.
    static func parse(_ text: String, as type: HarnessKey.ValueType) throws(UsageError) -> Any {
        switch type {
        case .int:
            guard let value = Int(text) else {
                throw UsageError("expected a 64-bit integer such as 42 or -7, found \"\(ShownText.key(text))\"")
            }
            return value
        case .string:
            return text
        case .array:
            guard text.utf8.first == UInt8(ascii: "[") else { return text.isEmpty ? [] : Self.parts(of: text, at: ",") }
            guard let value = json(text) as? [String] else {
                throw UsageError(
                    "expected a JSON array of strings such as [\"a\",\"b\"], or a,b, found \(ShownText.key(text))")
            }
            return value
        case .dictionary:
            return try dictionary(text)
        case .date:
            guard let value = date(text) else {
                throw UsageError(
                    "expected an ISO 8601 date such as 2026-11-20 or 2026-11-20T08:30:00Z, found \"\(ShownText.key(text))\""
                )
            }
            return value
        }
    }

    /// Returns a value on one line: strings and dates without quotes, containers as JSON.
    static func line(_ value: Any) -> String {
        if let text = value as? String { return text }
        if let date = value as? Date { return JSONText.date(date) }
        return JSONText.value(value)
    }

    /// The format of the output of `line(_:)`.
    static func format(_ value: Any) -> OutputFormat { value is String || value is Date ? .value : .json }

    /// Returns the name of the type in property lists.
    static func typeName(_ value: Any) -> String {
        switch value {
        case is String: return "string"
        case is Date: return "date"
        case is Data: return "data"
        case is [Any]: return "array"
        case is [String: Any]: return "dictionary"
        // Compares the dynamic type, since on Linux the numbers 0 and 1 cast to `Bool`.
        case _ where Swift.type(of: value) == Bool.self: return "boolean"
        default:
            guard let number = value as? NSNumber else { return "keyed-archive reference" }
            return ["d", "f"].contains(String(cString: number.objCType)) ? "float" : "integer"
        }
    }

    private static func dictionary(_ text: String) throws(UsageError) -> [String: String] {
        if text.utf8.first == UInt8(ascii: "{") {
            guard let value = json(text) as? [String: String] else {
                throw UsageError(
                    "expected a JSON object of strings such as {\"k\":\"v\"}, or k=v, found \(ShownText.key(text))")
            }
            return value
        }
        var result: [String: String] = [:]
        for pair in text.isEmpty ? [] : Self.parts(of: text, at: ",") {
            let parts = Self.parts(of: pair, at: "=", maxSplits: 1)
            guard parts.count == 2, result[parts[0]] == nil else {
                let problem = parts.count == 2 ? "with a repeated key" : "without ="
                throw UsageError(
                    "expected pairs such as k=v,k2=v2, or JSON such as {\"k\":\"v\"}, found \"\(ShownText.key(pair))\" \(problem)"
                )
            }
            result[parts[0]] = parts[1]
        }
        return result
    }

    /// Splits between scalars, because a part may begin with a combining mark.
    private static func parts(of text: String, at separator: Unicode.Scalar, maxSplits: Int = .max) -> [String] {
        text.unicodeScalars.split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map(String.init)
    }

    private static func json(_ text: String) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    private static func date(_ text: String) -> Date? {
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
