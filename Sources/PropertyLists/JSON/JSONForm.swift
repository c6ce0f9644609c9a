import Foundation

/// The objects for values that JSON cannot express. They have one key, which begins with `$`.
enum JSONForm {
    static let date = "$date"
    static let data = "$data"
    static let double = "$double"

    static let nonfinite: [(name: String, value: Double)] = [
        ("nan", .nan), ("inf", .infinity), ("-inf", -.infinity),
    ]

    /// Whether an object with this key alone is a form. By bytes: a combining mark may follow the `$`.
    static func isMarked(_ key: String) -> Bool {
        key.utf8.first == UInt8(ascii: "$")
    }

    struct Flaw: Error {
        let reason: String
    }

    /// The value of an object with one key that begins with `$`.
    static func value(of key: String, _ content: Any) throws(Flaw) -> Any {
        switch key {
        case date:
            if let text = content as? String, let interval = JSONDate.interval(of: text) {
                return Date(timeIntervalSinceReferenceDate: interval)
            }
            if CanonicalValue.isNumber(content), let number = content as? NSNumber {
                return Date(timeIntervalSinceReferenceDate: number.doubleValue)
            }
            throw Flaw(reason: #""$date" needs a time in UTC such as "2026-11-21T19:02:43.25Z", or seconds since 2001"#)
        case data:
            if let text = content as? String, let data = Data(base64Encoded: text) { return data }
            throw Flaw(reason: #""$data" needs a base64 string"#)
        case double:
            if let text = content as? String, let (_, value) = nonfinite.first(where: { $0.name == text }) {
                return CanonicalNumber(value).object
            }
            throw Flaw(reason: #""$double" needs "nan", "inf" or "-inf""#)
        default:
            let rest = String(decoding: key.utf8.dropFirst(), as: UTF8.self)
            if isMarked(rest) { return [rest: content] as [String: Any] }
            throw Flaw(
                reason:
                    #"expected "$date", "$data" or "$double"; any other lone key that begins with $ needs one more $"#)
        }
    }
}
