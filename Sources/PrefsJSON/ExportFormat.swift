public import Foundation
public import PersistentPreferences
package import PrefsPropertyLists

/// The format of exported values.
///
/// ```swift
/// import PrefsJSON
///
/// let data = prefs.exported(as: .json)
/// let error = data.flatMap { otherPrefs.import($0, merge: true) }
/// ```
///
/// In each format, the top level is a dictionary. ``PersistentPrefs/import(_:merge:)`` recognizes the format by its
/// first bytes.
public enum ExportFormat: Sendable, Hashable, CaseIterable {
    /// A binary property list. Compact, and exact for every value, with keys sorted.
    case binary
    /// An XML property list for property-list editors, with keys in a fixed order.
    ///
    /// Dates are rounded down to the second, and the date -0.0 becomes 0.0. Other values are exact. Some values are an
    /// error, because readers of XML would read others: control characters, U+FFFE and U+FFFF, a leading U+FEFF, and
    /// years outside of 1–9999.
    case xml
    /// JSON of RFC 8259 in UTF-8, for people, scripts and version control. Exact for every value.
    ///
    /// Strings, Booleans, arrays and dictionaries are written as in JSON. An integer is a number with neither a
    /// fraction nor an exponent, signed or unsigned, of up to 64 bits. A double is a number with a fraction or an
    /// exponent, in the shortest form that reads back exactly: `1.0`, `-0.0`, `1e+22`. Other values are objects with one
    /// key:
    ///
    /// | value | form |
    /// |---|---|
    /// | date | `{"$date": "2026-11-21T19:02:43.25Z"}`: ISO 8601 in UTC, with the fraction of the date |
    /// | date that ISO 8601 does not give back exactly | `{"$date": 1e+16}`: seconds since 2001 |
    /// | data | `{"$data": "SGVsbG8="}`: base64 |
    /// | double that JSON has no number for | `{"$double": "nan"}`, `"inf"` or `"-inf"` |
    /// | dictionary whose only key begins with `$` | one more `$` in front of that key: `{"$$date": …}` |
    ///
    /// A date has the number of seconds in three cases: before year 0 or after year 9999; within 0.0001 seconds of the
    /// beginning of 2001, but not exactly there; and the date -0.0. An import reads both forms for every date.
    ///
    /// Keys are sorted by their bytes, and containers are indented by two spaces. Escaped are only `"`, `\`, control
    /// characters (including U+007F–U+009F), U+2028 and U+2029. So equal roots give equal bytes.
    ///
    /// An import reads JSON in any layout, also with comments and a comma after the last value. A member that is `null`
    /// counts as absent. An import rejects:
    /// - a `null` that is not a member, and a key that occurs twice;
    /// - an integer of more than 64 bits, and a number beyond the range of a double;
    /// - half a surrogate pair, and bytes that are not UTF-8;
    /// - a key with more than 30 combining marks in a row;
    /// - an object whose only key begins with `$` and is not in the table.
    case json

    /// Returns a dictionary as bytes, in the form of an export. For your own ``PrefsStore``.
    ///
    /// Costs time linear in the size of the values. Any thread.
    /// - Throws: ``PrefsError/valuesNotPlistCompatible(invalidElements:)`` if the format has no form for a value.
    public func data(of values: [String: Any]) throws -> Data {
        try data(of: RootChange(from: [:], shownAs: [:], to: values).assigned)
    }

    /// Reads a dictionary from bytes in any of the formats. For your own ``PrefsStore``.
    ///
    /// The values are String, Data, Date, Bool, NSNumber, `[Any]` and `[String: Any]`. More than 256 MiB are rejected.
    /// Costs time linear in the size of the data. Any thread.
    /// - Throws: ``PrefsError/invalidImport(reason:)`` if the bytes cannot be read, if their top level is not a dictionary, if two
    ///   keys differ only in Unicode normalization, or if a text has half a surrogate pair.
    public static func dictionary(from data: Data) throws(PrefsError) -> [String: Any] {
        try values(of: data).objects
    }

    /// Returns values as bytes, in the form of an export.
    ///
    /// - Parameter keepsAll: whether JSON keeps nulls and numbers of any length, as a JSON file does. Otherwise nulls are left out.
    package func data(of values: [String: StoredValue], keepsAll: Bool = false) throws -> Data {
        let values = keepsAll ? .dictionary(values) : StoredValue.dictionary(values).plain
        do {
            return switch self {
            case .binary: try PropertyListCoder.encode(values, as: .binary)
            case .xml:
                try PropertyListCoder.encode(
                    .dictionary(FileFormat.plainXML.coder.storable(values.dictionary ?? [:])), as: .plainXML)
            case .json: try JSONWriter.data(of: values)
            }
        } catch let failure as PropertyListFailure {
            throw PrefsError.unsupportedValues([failure])
        }
    }

    /// Returns one value as JSON for people, laid out as in an export. It also shows what an export cannot hold: a
    /// reference of a keyed archive as `{"CF$UID": 5}`, and a foreign object as `"object"`.
    package static func json(of value: StoredValue) throws -> String {
        String(decoding: try JSONWriter.data(of: value, showsAll: true), as: UTF8.self)
    }

    /// Reads one value in the form of ``json``.
    ///
    /// - Parameters:
    ///   - keepsNulls: whether nulls are read as values. Only JSON files have nulls.
    ///   - isSpelled: whether each number that this package would write otherwise is a `StoredValue.decimal`.
    /// - Throws: `PrefsError.invalidImport`.
    package static func value(
        ofJSON data: Data, keepsNulls: Bool = false, isSpelled: Bool = false
    ) throws(PrefsError) -> StoredValue {
        let limits = (keepsNulls ? JSONReader.Limits.value : .root).with { $0.keepsSpelling = isSpelled }
        return try reading { () throws(PropertyListFault) in try JSONReader.value(of: data, limits: limits) }
    }

    /// Reads the values of a JSON file with each number as the file spells it; nil if the bytes are no such file.
    package static func spelledValues(ofJSON data: Data) -> [String: StoredValue]? {
        let value = try? JSONReader.value(of: data, limits: .file.with { $0.keepsSpelling = true })
        return value?.dictionary
    }

    /// Reads the values of exported bytes of any origin, in any of the formats. Does not vet them.
    ///
    /// - Parameter isFile: whether the bytes come from a file that is only shown. If so, its nulls are kept.
    /// - Throws: `PrefsError.invalidImport`.
    package static func values(of data: Data, isFile: Bool = false) throws(PrefsError) -> [String: StoredValue] {
        let limit = PropertyListLimits.fileBytes
        guard data.count <= limit else { throw .invalidImport(reason: "larger than \(limit >> 20) MiB") }
        if data.isEmpty { throw .invalidImport(reason: "it is empty") }
        let top = try reading { () throws(PropertyListFault) in
            if data.withUnsafeBytes([FileFormat].propertyLists.recognizing) != nil {
                let list = try PropertyListCoder.decode(data)
                // Whoever stores the values would lose it without a word.
                if let loss = list.loss { throw PropertyListFault(reason: loss) }
                return list.value
            }
            return try JSONReader.value(of: data, limits: isFile ? .file : .import)
        }
        guard let values = top.dictionary else {
            throw .invalidImport(reason: "expected a dictionary at the top level, found \(ValueMismatch.kind(of: top))")
        }
        return values
    }

    private static func reading<R>(_ read: () throws(PropertyListFault) -> R) throws(PrefsError) -> R {
        do {
            return try read()
        } catch {
            throw .invalidImport(reason: "\(error)")
        }
    }
}
