import Foundation
import PersistentPreferences

/// JSON of property-list values: dates as ISO 8601, data as base64, numbers that JSON has none of as text.
enum JSONText {
    static func value(_ value: Any) -> String {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: compatible(value), options: options) else {
            return "\"\""
        }
        return JSONEscape.required(in: String(decoding: data, as: UTF8.self))
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

    private static func compatible(_ value: Any) -> Any {
        switch value {
        case let array as [Any]: array.map(compatible)
        case let dictionary as [String: Any]: dictionary.mapValues(compatible)
        case let date as Date: self.date(date)
        case let data as Data: data.base64EncodedString()
        case is String, is Bool, is NSNull: value
        case let number as NSNumber: number.doubleValue.isFinite ? number : "\(number)"
        default: "\(value)"
        }
    }
}
