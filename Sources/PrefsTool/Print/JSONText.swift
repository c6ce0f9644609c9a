import Foundation
import PersistentPreferences

/// Property-list values as JSON: dates as ISO 8601, data as base64, infinities and NaN as strings.
enum JSONText {
    /// Returns JSON on one line, with keys sorted by their bytes. (`JSONSerialization` sorts by locale, and crashes in some.)
    static func value(_ value: Any) -> String {
        switch value {
        case is NSNull: return "null"
        case let text as String: return JSONEscape.quoted(text)
        case let array as [Any]: return "[" + array.map(self.value).joined(separator: ",") + "]"
        case let dictionary as [String: Any]:
            return object(
                dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) })
        case let date as Date: return JSONEscape.quoted(self.date(date))
        case let data as Data: return JSONEscape.quoted(data.base64EncodedString())
        // Compares the dynamic type, since on Linux the numbers 0 and 1 cast to `Bool`.
        case let bool as Bool where type(of: value) == Bool.self: return bool ? "true" : "false"
        case let number as NSNumber: return self.number(number)
        default: return JSONEscape.quoted("\(value)")
        }
    }

    private static func number(_ number: NSNumber) -> String {
        guard ["d", "f"].contains(String(cString: number.objCType)) else { return "\(number)" }
        let value = number.doubleValue
        guard value.isFinite else { return JSONEscape.quoted("\(number)") }
        let text = value.description
        return text.utf8.suffix(2).elementsEqual(".0".utf8) ? String(text.dropLast(2)) : text
    }

    /// Returns an object with its members in the given order.
    static func object(_ members: [(name: String, value: Any)]) -> String {
        "{" + members.map { "\(value($0.name)):\(value($0.value))" }.joined(separator: ",") + "}"
    }

    /// Returns ISO 8601 in UTC, rounded to milliseconds. Omits the fraction if it is zero.
    static func date(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        // Foundation's style uses the Julian calendar before 1582; property lists use the Gregorian calendar.
        if seconds < Self.startOfGregorianCalendar, let text = JSONDate.text(of: (seconds * 1_000).rounded() / 1_000) {
            return text
        }
        guard seconds != seconds.rounded() else { return date.formatted(Date.ISO8601FormatStyle()) }
        let milliseconds = (seconds * 1_000).rounded()
        // The style truncates, and .999 may be stored slightly too low, so this adds a quarter of a millisecond.
        let cut = Date(timeIntervalSinceReferenceDate: (milliseconds + 0.25) / 1_000)
        let hasFraction = milliseconds.truncatingRemainder(dividingBy: 1_000) != 0
        return cut.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }

    /// 15 October 1582, in seconds since 2001.
    static let startOfGregorianCalendar: TimeInterval = -13_197_600_000
}
