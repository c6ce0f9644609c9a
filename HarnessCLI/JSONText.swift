import Foundation

/// JSON of property-list values: dates as ISO 8601, data as base64, numbers that JSON has none of as text.
enum JSONText {
    static func value(_ value: Any) -> String {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: compatible(value), options: options) else {
            return "\"\""
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// An object whose members stay in the order given.
    static func object(_ members: [(name: String, value: Any)]) -> String {
        "{" + members.map { "\(value($0.name)):\(value($0.value))" }.joined(separator: ",") + "}"
    }

    /// ISO 8601 in UTC, with milliseconds where there is a fraction.
    static func date(_ date: Date) -> String {
        let hasFraction = date.timeIntervalSinceReferenceDate != date.timeIntervalSinceReferenceDate.rounded()
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }

    private static func compatible(_ value: Any) -> Any {
        switch value {
        case let array as [Any]: array.map(compatible)
        case let dictionary as [String: Any]: dictionary.mapValues(compatible)
        case let date as Date: self.date(date)
        case let data as Data: data.base64EncodedString()
        case is String, is Bool: value
        case let number as NSNumber: number.doubleValue.isFinite ? number : "\(number)"
        default: "\(value)"
        }
    }
}
