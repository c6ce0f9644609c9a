import Foundation
import PrefsPropertyLists

extension PrefCoding where Value: Codable {
    /// JSON in a String entry, as `Defaults` and `@AppStorage` code for Codable values store it. Data and String are read.
    ///
    /// ```swift
    /// @Pref(coding: .json) var profile = Profile()
    /// ```
    ///
    /// What `JSONEncoder` makes of the value, with sorted keys. Dates are read as seconds since 2001 and as ISO 8601 text. Also reads an
    /// array and a dictionary of such entries, which `Defaults` makes of a collection. Fields that the type does not know are lost by a
    /// write. Errors are those of a coding of your own.
    public static var json: PrefCoding { json(in: .string) }

    /// JSON in a Data entry. Otherwise as ``json``.
    public static var jsonData: PrefCoding { json(in: .data) }

    private enum Entry { case string, data }

    private static func json(in entry: Entry) -> PrefCoding {
        PrefCoding(
            encode: { value in
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
                return try decoder.decode(Value.self, from: data)
            })
    }
}

/// What is stored for a value that is kept as JSON.
private enum JSONEntry {
    /// The whole as JSON; nil if it is none.
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

    static func date(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        if let seconds = try? container.decode(Double.self) { return Date(timeIntervalSinceReferenceDate: seconds) }
        let text = try container.decode(String.self)
        guard let date = Date(written: .string(text)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date")
        }
        return date
    }
}
