import Foundation

@testable import PersistentPreferences
@testable import PrefsPropertyLists

/// A property list as a text that tells apart all that contract 4 tells apart: 1, 1.0 and true, −0.0 and 0.0, the bits of
/// a date, the bytes of a text. Whatever has no canonical form shows, with its type, as what it is.
func exactForm(_ value: Any) -> String {
    switch type(of: value) {
    case is Bool.Type:
        return "\(value)"
    case is String.Type:
        return "'" + (value as? String ?? "").unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "'"
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
