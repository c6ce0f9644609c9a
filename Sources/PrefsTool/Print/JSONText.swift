import Foundation
import PersistentPreferences
import PrefsJSON

/// A piece of JSON that is ready to print, for example an object whose members keep their order.
struct JSONText: JSONPrintable {
    let json: String

    /// Returns an object with its members in the given order.
    static func object(_ members: [(name: String, value: any JSONPrintable)]) -> JSONText {
        JSONText(json: "{" + members.map { "\($0.name.json):\($0.value.json)" }.joined(separator: ",") + "}")
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
