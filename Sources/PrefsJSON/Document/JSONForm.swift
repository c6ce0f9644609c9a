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

    /// The key by which an editor finds the schema of a file.
    package static let schema = "$schema"

    /// The value of an object. An object is a form only if it has one key, that of a form, and fitting content. Objects
    /// of other programs, such as `{"$ref": "#/x"}`, are dictionaries.
    static func value(ofObject members: [String: StoredValue]) -> StoredValue {
        guard members.count == 1, let (key, content) = members.first else { return .dictionary(members) }
        if isEscaped(key) { return .dictionary([String(decoding: key.utf8.dropFirst(), as: UTF8.self): content]) }
        return value(of: key, content) ?? .dictionary(members)
    }

    /// Whether a dictionary must be written with one more `$`, because a reader would change it.
    static func isMistakable(_ members: [String: StoredValue]) -> Bool {
        guard members.count == 1, let (key, content) = members.first else { return false }
        return isEscaped(key) || value(of: key, content) != nil
    }

    /// Whether a key is the key of a form with more than one `$`.
    private static func isEscaped(_ key: String) -> Bool {
        guard key.utf8.starts(with: "$$".utf8) else { return false }
        let name = key.utf8.drop { $0 == UInt8(ascii: "$") }
        return [date, data, double].contains { $0.utf8.dropFirst().elementsEqual(name) }
    }

    /// The value of a form; nil if it is no form.
    private static func value(of key: String, _ content: StoredValue) -> StoredValue? {
        switch key {
        case date: interval(of: content).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case data: content.string.flatMap { Data(base64Encoded: $0) }.map(StoredValue.data)
        case double: nonfinite.first { $0.name == content.string }.map { .real($0.value) }
        default: nil
        }
    }

    /// The seconds since 2001. An integer beyond the years of texts is the time of another program, in milliseconds.
    private static func interval(of content: StoredValue) -> TimeInterval? {
        switch content {
        case .string(let text): return JSONDate.interval(of: text)
        case .real, .decimal: return content.nearestDouble
        case .integer(let seconds):
            let seconds = TimeInterval(seconds)
            return JSONDate.text(of: seconds) == nil ? nil : seconds
        default: return nil
        }
    }

    /// The form of a value in an export, which consists of JSON values.
    package static func exported(_ value: StoredValue) -> StoredValue {
        switch value {
        case .string, .bool, .integer, .unsigned, .decimal: value
        case .real(let number): name(of: number).map { .dictionary([double: .string($0)]) } ?? value
        case .date(let day): .dictionary([date: content(of: day)])
        case .data(let bytes): .dictionary([data: .string(bytes.base64EncodedString())])
        case .array(let elements): .array(elements.map(exported))
        case .dictionary(let members):
            .dictionary(
                isMistakable(members)
                    ? Dictionary(uniqueKeysWithValues: members.map { ("$" + $0, exported($1)) })
                    : members.mapValues(exported))
        case .foreign, .null: value
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
