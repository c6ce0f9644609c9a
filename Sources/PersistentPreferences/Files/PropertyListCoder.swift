import Foundation

/// Bytes to property list and back. What cannot be read safely is refused before Foundation sees it.
enum PropertyListCoder {
    /// What is wrong with the bytes.
    struct Damage: Error {
        let reason: String
    }

    /// Parses binary and XML property lists; other bytes that Foundation would take (old-style `{}`) are damage.
    /// - Returns: the value in canonical form. Objects of other programs that have none are carried as they are.
    static func decode(_ bytes: Data) throws(Damage) -> (value: Any, format: PropertyListFormat) {
        let format = try check(bytes)
        do {
            let value = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
            return (canonical(value), format)
        } catch {
            let error = error as NSError
            let reason = error.userInfo["NSDebugDescription"] as? String
            throw Damage(reason: "no property list" + (reason.map { " (\($0))" } ?? ""))
        }
    }

    /// The value as it will be read again: an XML property list holds dates to the second.
    static func storable(_ value: Any, as format: PropertyListFormat) -> Any {
        guard format == .xml else { return value }
        switch value {
        case let date as Date:
            return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
        case let array as [Any]:
            return array.map { storable($0, as: format) }
        case let dictionary as [String: Any]:
            return dictionary.mapValues { storable($0, as: format) }
        default:
            return value
        }
    }

    static func encode(_ value: Any, as format: PropertyListFormat) throws -> Data {
        switch format {
        case .binary: try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
        case .xml: try XMLPropertyListWriter.data(from: value)
        }
    }

    private static func check(_ bytes: Data) throws(Damage) -> PropertyListFormat {
        if bytes.isEmpty { throw Damage(reason: "the file is empty") }
        if bytes.starts(with: Data("bplist".utf8)) {
            try bytes.withBytes { buffer throws(Damage) in try BinaryPropertyListCheck.run(buffer) }
            return .binary
        }
        try bytes.withBytes { buffer throws(Damage) in try XMLPropertyListCheck.run(buffer) }
        return .xml
    }

    /// Foundation's containers as Swift's; it gives scalars in canonical form already, but for Booleans from some
    /// sources.
    private static func canonical(_ value: Any) -> Any {
        if let array = value as? [Any] { return array.map(canonical) }
        if let dictionary = value as? [AnyHashable: Any] {
            var result: [String: Any] = [:]
            result.reserveCapacity(dictionary.count)
            for (key, value) in dictionary {
                guard let key = key.base as? String else { continue }
                result[key] = canonical(value)
            }
            return result
        }
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber { return CanonicalNumber(number).object }
        return value
    }
}
