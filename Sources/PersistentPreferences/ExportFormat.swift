package import Foundation
import PrefsPropertyLists

/// The form of an exported root: see ``PersistentPrefs/exported(as:)``.
///
/// Each is a dictionary on top, and each is recognised by its first bytes when it is imported.
public enum ExportFormat: String, Sendable, Hashable, CaseIterable {
    /// A binary property list. Compact, and exact for every value, with keys sorted.
    case binary
    /// An XML property list, which property-list editors open, with keys in a fixed order. It rounds dates down to the second, the
    /// date -0.0 to 0.0, and is exact for everything else. What not every reader of XML reads alike is an error that names it:
    /// control characters, U+FFFE and U+FFFF, a leading U+FEFF, and years outside of 1–9999.
    case xml
    /// JSON of RFC 8259 in UTF-8, for people, scripts and version control. Exact for every value.
    ///
    /// Texts, Booleans, lists and dictionaries are JSON's own. An integer is a number without fraction and exponent, of
    /// up to 64 bits with or without a sign; a number with either is a double, written in its shortest form that reads
    /// back as the same (`1.0`, `-0.0`, `1e+22`). What JSON has no form for is an object with one key:
    ///
    /// | value | form |
    /// |---|---|
    /// | date | `{"$date": "2026-11-21T19:02:43.25Z"}`: ISO 8601, in UTC, with the fraction that the date has |
    /// | date that no such text gives back exactly | `{"$date": 1e+16}`: seconds since 2001 |
    /// | data | `{"$data": "SGVsbG8="}`: base64 |
    /// | double that is no number of JSON | `{"$double": "nan"}`, `"inf"` or `"-inf"` |
    /// | dictionary whose only key begins with `$` | one more `$` in front of that key: `{"$$date": …}` |
    ///
    /// No text gives back a date before year 0 or after year 9999, a date within 0.0001 seconds of 2001 unless it is
    /// exactly that, and the date -0.0. Both forms are read for every date.
    ///
    /// Keys are sorted by their bytes, and containers are indented by two spaces. Only `"`, `\`, control characters (including
    /// U+007F–U+009F), U+2028 and U+2029 are escaped. Equal roots therefore give equal bytes. JSON of other programs is read in
    /// any layout. Rejected are: `null`, which no property list has, a key that occurs twice, an integer beyond 64 bits, a number
    /// beyond the range of a double, half a surrogate pair, bytes that are not UTF-8, more than 30 combining marks in a row in a
    /// key, and a lone key with a `$` that is none of the above.
    case json

    /// The bytes of values in canonical form.
    package func data(of values: [String: Any]) throws -> Data {
        do {
            return switch self {
            case .binary: try PropertyListCoder.encode(values, as: .binary)
            case .xml: try PropertyListCoder.encode(PropertyListCoder.storable(values, as: .xml), as: .xml)
            case .json: try JSONWriter.data(of: values)
            }
        } catch let refusal as PropertyListVetter.Refusal {
            throw PrefsError.valuesNotPlistCompatible(refusal.failures)
        } catch let failure as EncodingFailure {
            throw PrefsError.valuesNotPlistCompatible([
                PropertyListFailure(path: failure.path, topLevelKey: failure.topLevelKey, reason: failure.reason)
            ])
        }
    }

    /// One value of canonical form in the form of ``json``, laid out as in an export, for people. A reference of a keyed archive,
    /// which no export holds, is shown as `{"CF$UID": 5}`.
    package static func json(of value: Any) throws -> String {
        do {
            return String(decoding: try JSONWriter.data(of: value, showsUIDs: true), as: UTF8.self)
        } catch {
            throw PrefsError.valuesNotPlistCompatible(error.failures)
        }
    }

    /// Reads one value in the form of ``json``.
    ///
    /// - Throws: `PrefsError.invalidImport`.
    package static func value(ofJSON data: Data) throws(PrefsError) -> Any {
        try ImportedData.reading { () throws(DecodingFailure) in try JSONReader.value(of: data) }
    }

    /// The values that exported bytes hold, in any of the formats. They are not vetted.
    ///
    /// - Throws: `PrefsError.invalidImport`.
    package static func values(of data: Data) throws(PrefsError) -> [String: Any] {
        try ImportedData.values(of: data)
    }
}
