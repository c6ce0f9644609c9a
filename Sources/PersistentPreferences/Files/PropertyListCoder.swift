import Foundation

/// Bytes to property list and back. Binary lists are read by `BinaryPropertyListReader`; Foundation parses XML, once it is
/// checked, and those binary lists, checked as well, in which an object is that only Foundation can make.
enum PropertyListCoder {
    /// What is wrong with bytes.
    enum Flaw: Error {
        /// They are no property list.
        case damage(String)
        /// They may be a good one, but are not safe to parse.
        case excess(String)
    }

    /// Parses binary and XML property lists; other bytes that Foundation would take (old-style `{}`) are damage.
    /// - Returns: the value in canonical form. Objects of other programs that have none are carried as they are.
    static func decode(_ bytes: Data) throws(Flaw) -> (value: Any, format: PropertyListFormat) {
        if bytes.isEmpty { throw .damage("the file is empty") }
        let isBinary = bytes.starts(with: Data("bplist".utf8))
        if isBinary {
            let value = try bytes.withBytes { buffer throws(Flaw) in try BinaryPropertyListReader.value(in: buffer) }
            if let value { return (value, .binary) }
        } else {
            try bytes.withBytes { buffer throws(Flaw) in try XMLPropertyListCheck.run(buffer) }
        }
        do {
            let value = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
            return (canonical(value), isBinary ? .binary : .xml)
        } catch {
            throw .damage("no property list" + line(of: error))
        }
    }

    /// The value as it will be read again: an XML property list holds dates to the second.
    static func storable(_ content: [String: Any], as format: PropertyListFormat) -> [String: Any] {
        format == .xml ? content.mapValues(withWholeSeconds) : content
    }

    private static func withWholeSeconds(_ value: Any) -> Any {
        switch value {
        case let date as Date:
            return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down) + 0)
        case let array as [Any]:
            return array.map(withWholeSeconds)
        case let dictionary as [String: Any]:
            return dictionary.mapValues(withWholeSeconds)
        default:
            return value
        }
    }

    /// - Throws: `Flaw` where the bytes could not be read again, else what the encoder throws.
    static func encode(_ value: Any, as format: PropertyListFormat) throws -> Data {
        switch format {
        case .binary:
            let bytes =
                try BinaryPropertyListWriter.data(from: value)
                ?? PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
            try bytes.withBytes { buffer throws(Flaw) in try BinaryPropertyListReader.check(buffer) }
            return bytes
        case .xml:
            let bytes = try XMLPropertyListWriter.data(from: value)
            try bytes.withBytes { buffer throws(Flaw) in try XMLPropertyListCheck.run(buffer) }
            return bytes
        }
    }

    /// Where the parser stopped. Its own words may quote the file, which no error of ours does.
    private static func line(of error: any Error) -> String {
        let text = (error as NSError).userInfo["NSDebugDescription"] as? String ?? ""
        guard let mark = text.range(of: "line ") else { return "" }
        let number = text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber }
        return number.isEmpty ? "" : " (line \(number))"
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
