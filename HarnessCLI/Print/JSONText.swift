import Foundation
import PersistentPreferences

/// JSON of property-list values: dates as ISO 8601, data as base64, numbers that JSON has none of as text.
enum JSONText {
    /// JSON on one line, with the keys sorted by their bytes. (`JSONSerialization` sorts by the locale, and crashes in some.)
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
        // By type, since on Linux the numbers 0 and 1 are Booleans as well.
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

    /// An object whose members stay in the order given.
    static func object(_ members: [(name: String, value: Any)]) -> String {
        "{" + members.map { "\(value($0.name)):\(value($0.value))" }.joined(separator: ",") + "}"
    }

    /// ISO 8601 in UTC, rounded to milliseconds, which are shown where there are any.
    static func date(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        // Foundation's style counts by the Julian calendar before 1582, and files do not.
        if seconds < Self.startOfGregorianCalendar, let text = JSONDate.text(of: (seconds * 1_000).rounded() / 1_000) {
            return text
        }
        guard seconds != seconds.rounded() else { return date.formatted(Date.ISO8601FormatStyle()) }
        let milliseconds = (seconds * 1_000).rounded()
        // The style cuts off, and .999 may be stored a little below itself: cut a quarter of a millisecond above.
        let cut = Date(timeIntervalSinceReferenceDate: (milliseconds + 0.25) / 1_000)
        let hasFraction = milliseconds.truncatingRemainder(dividingBy: 1_000) != 0
        return cut.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }

    /// 15 October 1582, in seconds since 2001.
    static let startOfGregorianCalendar: TimeInterval = -13_197_600_000
}
