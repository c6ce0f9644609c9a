import Foundation

/// The format `FileFormat.plainXML`.
final class XMLFormat: FileFormatCoder {
    static let coder = XMLFormat()

    let name = "xml"

    func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool { XMLPropertyListReader.isXML(bytes) }

    func value(in bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> (value: StoredValue, loss: String?) {
        try XMLPropertyListReader.value(in: bytes)
    }

    /// An XML property list holds dates to the second.
    func storable(_ content: [String: StoredValue]) -> [String: StoredValue] {
        // A copy of all values would take as much memory as the values.
        guard content.values.contains(where: { $0.holds(Self.hasFraction) }) else { return content }
        return content.mapValues(Self.withWholeSeconds)
    }

    private static func hasFraction(_ value: StoredValue) -> Bool {
        guard case .date = value else { return false }
        return value != withWholeSeconds(value)
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

    func bytes(
        from value: StoredValue, replacing former: StoredValue?, written: Data?
    ) throws(PropertyListFailure) -> FileBytes {
        FileBytes(try XMLPropertyListWriter.data(from: value, replacing: former))
    }
}
