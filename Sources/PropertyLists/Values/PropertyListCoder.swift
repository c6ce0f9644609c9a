package import Foundation

/// A property list that was read from bytes.
package struct DecodedPropertyList {
    package let value: StoredValue
    package let format: PropertyListFormat
    /// Why writing the value back would lose an entry; nil if it would lose nothing.
    package var loss: String?
}

/// Converts bytes to property lists and back, in every format. Each format has its own reader and writer in this
/// package.
package enum PropertyListCoder {
    /// Reads a property list. Recognizes the format by the first bytes.
    ///
    /// - Parameter json: the limits of JSON; nil if JSON is not read. Bytes that are not a property list are read as
    ///   JSON, and the error describes them as such.
    package static func decode(
        _ bytes: Data, json: JSONReader.Limits? = nil
    ) throws(DecodingFailure) -> DecodedPropertyList {
        try bytes.withBytes { buffer throws(DecodingFailure) in try decode(buffer, json: json) }
    }

    private static func decode(
        _ bytes: UnsafeRawBufferPointer, json: JSONReader.Limits?
    ) throws(DecodingFailure) -> DecodedPropertyList {
        if bytes.isEmpty { throw .malformed(PropertyListFault(reason: "is empty", isIncomplete: true)) }
        if bytes.starts(with: "bplist".utf8) {
            do {
                let (value, loss) = try BinaryPropertyListReader.value(in: bytes)
                return DecodedPropertyList(value: value, format: .binary, loss: loss)
            } catch .malformed(var fault) {
                // An error at the end of the bytes may come from a file that is cut off.
                fault.isIncomplete = true
                throw .malformed(fault)
            } catch {
                throw error
            }
        }
        guard XMLPropertyListReader.isXML(bytes) else {
            guard let json else {
                throw .malformed(ForeignFormat.reason(bytes) ?? "is neither a binary nor an XML property list")
            }
            if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
                throw .malformed("expected JSON in UTF-8, found UTF-16")
            }
            return DecodedPropertyList(value: try JSONReader.value(of: bytes, limits: json), format: .json)
        }
        let (value, loss) = try XMLPropertyListReader.value(in: bytes)
        return DecodedPropertyList(value: value, format: .xml, loss: loss)
    }

    /// The value that a read will return: an XML property list holds dates to the second.
    package static func storable(
        _ content: [String: StoredValue], as format: PropertyListFormat
    ) -> [String: StoredValue] {
        format == .xml ? content.mapValues(withWholeSeconds) : content
    }

    private static func withWholeSeconds(_ value: StoredValue) -> StoredValue {
        switch value {
        case .date(let date):
            .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down) + 0))
        case .array(let elements): .array(elements.map(withWholeSeconds))
        case .dictionary(let members): .dictionary(members.mapValues(withWholeSeconds))
        default: value
        }
    }

    /// - Parameters:
    ///   - former: the value of the replaced file, in the same format. Values that readers of XML read differently are
    ///     kept if they are in it.
    ///   - written: the bytes that this function has made of the former value. Unchanged objects are copied from binary
    ///     bytes. The result does not depend on this parameter.
    package static func encode(
        _ value: StoredValue, as format: PropertyListFormat, replacing former: StoredValue? = nil,
        written: Data? = nil
    ) throws(EncodingFailure) -> Data {
        switch format {
        case .xml: return try XMLPropertyListWriter.data(from: value, replacing: former)
        case .json: return try JSONWriter.data(ofFile: value)
        case .binary:
            if let former, let written, let bytes = try? checked(value, replacing: (former, written)) { return bytes }
            do {
                return try checked(value)
            } catch {
                if let key = value.dictionary?.filter(\.value.holdsForeign).keys.min() {
                    let reason = "holds an object that no property list can hold"
                    throw EncodingFailure(path: key, topLevelKey: key, reason: reason)
                }
                throw EncodingFailure(path: "", reason: "could not be read again: \(error.reason)")
            }
        }
    }

    /// Returns the bytes of a binary list after a check.
    private static func checked(
        _ value: StoredValue, replacing former: (value: StoredValue, bytes: Data)? = nil
    ) throws(DecodingFailure) -> Data {
        let bytes = try BinaryPropertyListWriter.data(from: value, replacing: former)
        try bytes.withBytes { buffer throws(DecodingFailure) in try BinaryPropertyListCheck.check(buffer) }
        return bytes
    }
}

extension DecodingFailure {
    /// The problem and its place, as one clause.
    package var reason: String {
        switch self {
        case .malformed(let fault): "\(fault)"
        case .unsupported(let reason): reason
        }
    }
}
