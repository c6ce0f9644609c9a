import Foundation
package import PrefsPropertyLists

/// The objects for values that JSON cannot express. They have one key, which begins with `$`.
package enum JSONForm {
    static let date = "$date"
    static let data = "$data"
    static let double = "$double"

    package static let nonfinite: [(name: String, value: Double)] = [
        ("nan", .nan), ("inf", .infinity), ("-inf", -.infinity),
    ]

    /// Whether an object with only this key is a form. Compares bytes, because a combining mark may follow the `$`.
    static func isMarked(_ key: String) -> Bool {
        key.utf8.first == UInt8(ascii: "$") && key != schema
    }

    /// The key by which an editor finds the schema of a file. It is never a form, even as the only key.
    package static let schema = "$schema"

    struct Flaw: Error {
        let reason: String
    }

    /// The value of an object with one key that begins with `$`.
    static func value(of key: String, _ content: StoredValue) throws(Flaw) -> StoredValue {
        switch key {
        case date:
            if let interval = content.string.map(JSONDate.interval) ?? content.nearestDouble {
                return .date(Date(timeIntervalSinceReferenceDate: interval))
            }
            throw Flaw(reason: #""$date" needs a time in UTC such as "2026-11-21T19:02:43.25Z", or seconds since 2001"#)
        case data:
            if let text = content.string, let data = Data(base64Encoded: text) { return .data(data) }
            throw Flaw(reason: #""$data" needs a base64 string"#)
        case double:
            if let (_, value) = nonfinite.first(where: { $0.name == content.string }) { return .real(value) }
            throw Flaw(reason: #""$double" needs "nan", "inf" or "-inf""#)
        default:
            let rest = String(decoding: key.utf8.dropFirst(), as: UTF8.self)
            if isMarked(rest) || rest == schema { return .dictionary([rest: content]) }
            throw Flaw(
                reason:
                    #"expected "$date", "$data" or "$double"; any other lone key that begins with $ needs one more $"#)
        }
    }

    /// The form of a value in an export, which consists of JSON values.
    package static func exported(_ value: StoredValue) -> StoredValue {
        switch value {
        case .string, .bool, .integer, .unsigned: value
        case .real(let number): name(of: number).map { .dictionary([double: .string($0)]) } ?? value
        case .date(let day): .dictionary([date: content(of: day)])
        case .data(let bytes): .dictionary([data: .string(bytes.base64EncodedString())])
        case .array(let elements): .array(elements.map(exported))
        case .dictionary(let members):
            .dictionary(
                Dictionary(
                    uniqueKeysWithValues: members.map { key, value in
                        (members.count == 1 && isMarked(key) ? "$" + key : key, exported(value))
                    }))
        case .foreign: value
        case .uid(let uid): .dictionary([KeyedArchiveUID.key: StoredValue(uid.value)])
        }
    }

    /// The name of a number that JSON does not have.
    static func name(of number: Double) -> String? {
        number.isFinite ? nil : nonfinite.first { StoredValue.real($0.value) == .real(number) }?.name
    }

    /// The content of the form of a date: a text, or a number if no text reads as the date.
    static func content(of date: Date) -> StoredValue {
        let interval = date.timeIntervalSinceReferenceDate
        return JSONDate.text(of: interval).map(StoredValue.string) ?? .real(interval)
    }
}
