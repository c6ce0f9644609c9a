import Foundation
import PrefsPropertyLists

/// A property list as a text that shows all differences of contract 4: 1, 1.0 and true, −0.0 and 0.0, the bits of a
/// date, the bytes of a text. A value without a canonical form is shown with its type.
package func exactForm(_ value: Any) -> String {
    switch type(of: value) {
    case is StoredValue.Type:
        return (value as? StoredValue).map { exactForm($0.object) } ?? ""
    case is [String: StoredValue].Type:
        return (value as? [String: StoredValue]).map { exactForm($0.objects) } ?? ""
    case is Bool.Type:
        return "\(value)"
    case is String.Type:
        return exactForm(value as? String ?? "")
    case is Data.Type:
        return "data " + (value as? Data ?? Data()).base64EncodedString()
    case is Date.Type:
        return "date " + exactForm((value as? Date)?.timeIntervalSinceReferenceDate ?? .nan)
    case is [Any].Type:
        return "[" + (value as? [Any] ?? []).map(exactForm).joined(separator: ", ") + "]"
    case is [String: Any].Type:
        let entries = (value as? [String: Any] ?? [:]).map { "\(exactForm($0.key)): \(exactForm($0.value))" }
        return "{" + entries.sorted().joined(separator: ", ") + "}"
    case is KeyedArchiveUID.Type:
        return "UID \((value as? KeyedArchiveUID)?.value ?? 0)"
    default:
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else {
            return "not canonical: \(type(of: value))"
        }
        return exactForm(number)
    }
}

private func exactForm(_ text: String) -> String {
    // Does not escape words, because most texts are words and a test build escapes slowly.
    let isWord = text.utf8.allSatisfy { $0 >= 0x30 && $0 < 0x5C || $0 > 0x5C && $0 < 0x7F || $0 == 0x20 }
    return isWord ? "'\(text)'" : "'" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "'"
}

private func exactForm(_ number: NSNumber) -> String {
    switch String(cString: number.objCType) {
    case "d", "f": exactForm(number.doubleValue)
    case "Q", "L": "\(number.uint64Value)"
    default: "\(number.int64Value)"
    }
}

private func exactForm(_ number: Double) -> String {
    number.isNaN ? "nan" : "\(number) (\(String(number.bitPattern, radix: 16)))"
}

/// Foundation reads dictionaries with keys of any type.
package func withTextKeys(_ object: Any) -> Any {
    switch object {
    case let dictionary as [String: Any]: dictionary.mapValues(withTextKeys)
    case let list as [Any]: list.map(withTextKeys)
    default: object
    }
}

/// The property list with the dates that a reader of XML finds.
package func inWholeSeconds(_ value: Any) -> Any {
    switch value {
    case let date as Date:
        // Not -0.0.
        Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down) + 0)
    case let list as [Any]: list.map(inWholeSeconds)
    case let dictionary as [String: Any]: dictionary.mapValues(inWholeSeconds)
    default: value
    }
}
