import Foundation
import PersistentPreferences
public import PrefsPropertyLists

extension PrefCoding where Value: Codable {
    /// Stores JSON as a String, as `Defaults` does, and as code around `@AppStorage` often does. Reads String and Data.
    ///
    /// ```swift
    /// import PrefsJSON
    ///
    /// @Pref(coding: .json) var profile = Profile()
    /// ```
    ///
    /// `JSONEncoder` makes the JSON, with sorted keys; nil removes the key. Dates are read as seconds since 2001 and as
    /// ISO 8601 text, data as base64 and as an array of bytes. Also reads an array and a dictionary of such entries, in
    /// which `Defaults` stores a collection. A write loses fields that the type does not know. Costs time linear in the
    /// size of the JSON. A read of anything but JSON of the type reports ``PrefsError/typeMismatch(_:)``.
    public static var json: PrefCoding { json(in: .string) }

    /// Stores JSON as Data. The rest is as for ``json``.
    public static var jsonData: PrefCoding { json(in: .data) }

    private enum Entry { case string, data }

    private static func json(in entry: Entry) -> PrefCoding {
        PrefCoding(
            encode: { value in
                if let optional = value as? any OptionalValue, optional.wrappedValue == nil { return nil }
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                let data = try encoder.encode(value)
                return entry == .data ? .data(data) : .string(String(decoding: data, as: UTF8.self))
            },
            decode: { stored, _ in
                guard let data = JSONEntry.data(of: stored) else {
                    throw ValueMismatch(reason: "expected JSON in a string or in data, such as {\"size\": 12}")
                }
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .custom { try JSONEntry.date(from: $0) }
                decoder.dataDecodingStrategy = .custom { try JSONEntry.data(from: $0) }
                return try decoder.decode(Value.self, from: data)
            })
    }
}

/// The entries of values that are stored as JSON.
private enum JSONEntry {
    /// The entry as JSON; nil if it is not JSON.
    static func data(of stored: StoredValue) -> Data? {
        switch stored {
        case .string(let text): Data(text.utf8)
        case .data(let data): data
        case .array(let entries):
            elements(entries).map { Data("[".utf8) + $0.joined(separator: Data(",".utf8)) + Data("]".utf8) }
        case .dictionary(let entries): members(entries)
        default: nil
        }
    }

    private static func elements(_ entries: [StoredValue]) -> [Data]? {
        let elements = entries.compactMap(data)
        return elements.count == entries.count ? elements : nil
    }

    private static func members(_ entries: [String: StoredValue]) -> Data? {
        guard let keys = try? entries.keys.map({ try JSONEncoder().encode($0) }),
            let values = elements(Array(entries.values))
        else { return nil }
        let members = zip(keys, values).map { $0 + Data(":".utf8) + $1 }
        return Data("{".utf8) + members.joined(separator: Data(",".utf8)) + Data("}".utf8)
    }

    static func data(from decoder: any Decoder) throws -> Data {
        let container = try decoder.singleValueContainer()
        if let bytes = try? container.decode([UInt8].self) { return Data(bytes) }
        guard let data = JSONForms.data(.string(try container.decode(String.self))) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not base64")
        }
        return data
    }

    static func date(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        if let seconds = try? container.decode(Double.self) { return Date(timeIntervalSinceReferenceDate: seconds) }
        let text = try container.decode(String.self)
        guard let date = JSONForms.date(.string(text)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date")
        }
        return date
    }
}
