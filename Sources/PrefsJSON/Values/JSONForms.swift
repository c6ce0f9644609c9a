import Foundation
package import PrefsPropertyLists

extension ValueForm {
    /// Also the forms that people and JSON encoders write: a Date as ISO 8601 text or as seconds since 2001, Data as
    /// base64 or as an array of bytes.
    package static var json: ValueForm { ValueForm(others: JSONForms.ofValues) }
    /// `json` in a file of JSON, which has nulls: the text "$null" is a text there.
    static var jsonFile: ValueForm { ValueForm(others: JSONForms.ofFiles) }
}

/// The forms of `ValueForm.json` and `ValueForm.jsonFile`.
final class JSONForms: WrittenForms {
    static let ofValues = JSONForms(hasOwnNull: false)
    static let ofFiles = JSONForms(hasOwnNull: true)

    let hasOwnNull: Bool
    /// nil if these are the exact forms.
    private let exactForms: JSONForms?

    var marked: any WrittenForms { Self.ofValues }
    /// The exact forms, except that nil is a null where the format has one.
    var exact: JSONForms { exactForms ?? self }
    var isExact: Bool { exactForms == nil }

    private init(hasOwnNull: Bool, isExact: Bool = false) {
        self.hasOwnNull = hasOwnNull
        exactForms = isExact ? nil : JSONForms(hasOwnNull: hasOwnNull, isExact: true)
    }

    func scalar<Scalar: StorableScalar>(_ type: Scalar.Type, of stored: StoredValue) -> Scalar? {
        if type == Date.self { return Self.date(stored) as? Scalar }
        if type == Data.self { return Self.data(stored) as? Scalar }
        guard stored.isDecimal, type != Decimal.self else { return Scalar(storable: stored) }
        // 9007199254740993.0 is an integer that no Double holds.
        let whole = type is any FixedWidthInteger.Type ? Decimal(storable: stored)?.description : nil
        return Scalar(storable: whole.flatMap(Self.number) ?? stored.plain)
    }

    func example(of type: Any.Type) -> String? {
        if type == Date.self { return #""2026-11-21T19:02:43Z" or seconds since 2001"# }
        if type == Data.self { return #"base64 such as "AQID""# }
        return type == Duration.self ? #""PT1M30S", "90s" or seconds"# : nil
    }

    func isKeyOfTools(_ key: String) -> Bool { key == JSONForm.schema }

    static func date(_ stored: StoredValue) -> Date? {
        switch stored {
        case .date(let date): date
        case .string(let text): JSONDate.date(text)
        default:
            stored.nearestDouble.flatMap { $0.isFinite ? Date(timeIntervalSinceReferenceDate: $0) : nil }
        }
    }

    static func data(_ stored: StoredValue) -> Data? {
        switch stored {
        case .data(let data): return data
        case .string(let text): return base64(text)
        case .array(let elements):
            let bytes = elements.compactMap { $0.integer(as: UInt8.self) }
            return bytes.count == elements.count ? Data(bytes) : nil
        default: return nil
        }
    }

    /// The bytes of base64 with any blanks; nil for other text.
    private static func base64(_ text: String) -> Data? {
        // Most texts have no blanks. They are filtered by scalars, because a text may be long.
        Data(base64Encoded: text)
            ?? Data(base64Encoded: String(text.unicodeScalars.filter { !$0.properties.isWhitespace }))
    }
}
