import Foundation

/// Writes a binary property list. Keys are sorted, so that equal values give equal bytes. A scalar that occurs twice is
/// written once. Works without recursion, because the stack of a thread may be small.
///
/// The format: a magic, objects, a table of their offsets, and a trailer of 32 bytes. The object of a container
/// consists of references, whose width depends on the number of objects. So the objects are found first, level by
/// level, and then written.
///
/// A write of one key changes few objects of a large list. The other objects are copied from the bytes that this writer
/// made before, with their order (`+Changes`). The result has the bytes of a complete write.
struct BinaryPropertyListWriter {
    private enum Object {
        /// The bytes of a scalar, in `scalars`.
        case scalar(Range<Int>)
        /// The references to its elements, in `references`; in a dictionary, first to the keys and then to the values.
        case container(isDictionary: Bool, Range<Int>)
    }

    /// The source of the parts of a container.
    enum Source {
        case value(StoredValue)
        /// An object of the former list.
        case former(Int)
        /// A dictionary of the former list that has changed.
        case changed(Int, from: [String: StoredValue], to: [String: StoredValue])
    }

    private var objects: [Object] = []
    /// The containers whose parts are not found yet, in the order of their objects.
    private var waiting: [(object: Int, source: Source)] = []
    var references: [Int32] = []
    /// The bytes of the former list, then the bytes of new scalars.
    private var scalars: [UInt8] = []
    private var interned = ByteTable()
    var former: FormerObjects?

    /// The longest average of bytes per object for which a former list is used.
    private static let longestAverage = 1024

    /// - Parameter former: the bytes that this writer has written before, with their value.
    /// - Throws: an error if another writer has made the former bytes.
    static func data(
        from value: StoredValue, replacing former: (value: StoredValue, bytes: Data)? = nil
    ) throws(DecodingFailure) -> Data {
        guard let former, case .dictionary(let before) = former.value, case .dictionary(let after) = value else {
            var writer = Self()
            return try writer.written(from: .value(value))
        }
        return try former.bytes.withBytes { bytes throws(DecodingFailure) in
            let objects = try FormerObjects(bytes)
            var writer = Self()
            // Copying a long text takes as long as writing it.
            guard bytes.count <= Self.longestAverage * objects.count else {
                return try writer.written(from: .value(value))
            }
            writer.scalars = Array(bytes)
            writer.objects.reserveCapacity(objects.count + 8)
            writer.references.reserveCapacity(objects.count + 8)
            writer.former = objects
            return try writer.written(from: .changed(0, from: before, to: after))
        }
    }

    private mutating func written(from top: Source) throws(DecodingFailure) -> Data {
        if case .value(let value) = top, !value.isContainer {
            objects.append(.scalar(append(value)))
        } else {
            add(container: top)
        }
        var next = 0
        while next < waiting.count {
            let (object, source) = waiting[next]
            objects[object] = try container(of: source)
            next += 1
        }
        return written()
    }

    // MARK: - Finding the objects

    private mutating func container(of source: Source) throws(DecodingFailure) -> Object {
        let start = references.count
        var isDictionary = true
        switch source {
        case .former(let object):
            isDictionary = try addParts(ofFormer: object)
        case .changed(let object, let before, let after):
            try addMembers(ofFormer: object, from: before, to: after)
        case .value(.array(let elements)):
            isDictionary = false
            for element in elements { references.append(try reference(to: element)) }
        case .value(let value):
            let sorted = (value.dictionary ?? [:]).sorted { $0.key.precedes($1.key) }
            for member in sorted { references.append(try reference(to: .string(member.key))) }
            for member in sorted { references.append(try reference(to: member.value)) }
        }
        return .container(isDictionary: isDictionary, start..<references.count)
    }

    @discardableResult
    mutating func add(container source: Source) -> Int32 {
        waiting.append((objects.count, source))
        objects.append(.container(isDictionary: false, 0..<0))
        return Int32(objects.count - 1)
    }

    mutating func reference(to value: StoredValue) throws(DecodingFailure) -> Int32 {
        if value.isContainer { return add(container: .value(value)) }
        let bytes = append(value)
        if bytes.count <= ByteTable.longest {
            var same = former?.find(bytes, in: scalars, or: &interned)
            if same == nil {
                let known = interned.insert(bytes, Int32(objects.count), in: scalars)
                if known < 0 { same = FormerObjects.object(of: known) }
                if known >= 0, known < objects.count {
                    scalars.removeLast(bytes.count)
                    return known
                }
            }
            if let same {
                scalars.removeLast(bytes.count)
                return try reference(toFormer: same)
            }
        }
        objects.append(.scalar(bytes))
        return Int32(objects.count - 1)
    }

    mutating func reference(toFormer object: Int) throws(DecodingFailure) -> Int32 {
        let new = Int32(objects.count)
        guard let number = former?.number(of: object, orNew: new), let isContainer = former?.isContainer(object),
            let bytes = former?.bytes(of: object)
        else { throw .malformed("there is no former list") }
        if number < new { return number }
        if isContainer { return add(container: .former(object)) }
        objects.append(.scalar(bytes))
        return new
    }

    /// Writes a scalar after the others.
    private mutating func append(_ scalar: StoredValue) -> Range<Int> {
        let start = scalars.count
        switch scalar {
        case .string(let text): scalars.appendText(text)
        case .bool(let bool): scalars.append(bool ? 0x09 : 0x08)
        case .integer(let value): scalars.appendInteger(value)
        case .unsigned(let value):
            // Takes 16 bytes, because eight bytes would be read as a negative number.
            scalars.append(0x14)
            scalars.appendBigEndian(0)
            scalars.appendBigEndian(value)
        case .real(let value):
            scalars.append(0x23)
            scalars.appendBigEndian(value.bitPattern)
        case .decimal: return append(scalar.plain)
        case .date(let date):
            scalars.append(0x33)
            scalars.appendBigEndian(date.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let data):
            scalars.appendMarker(0x40, count: data.count)
            scalars.append(contentsOf: data)
        case .uid(let uid): scalars.appendUID(uid.value)
        // A marker that no reader accepts, so that the check of the written bytes rejects them.
        case .foreign: scalars.append(0x70)
        // Written by plistlib for None; kept in a file that has it.
        case .null: scalars.append(0x00)
        case .array, .dictionary: preconditionFailure("the value is not a scalar")
        }
        return start..<scalars.count
    }

    // MARK: - Writing them

    private func written() -> Data {
        let referenceSize = Self.width(of: objects.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(scalars.count + (references.count + objects.count) * (referenceSize + 4) + 64)
        bytes.append(contentsOf: "bplist00".utf8)
        var offsets: [Int32] = []
        offsets.reserveCapacity(objects.count)
        // Adjacent scalars are copied together.
        var run = 0..<0
        for object in objects {
            switch object {
            case .scalar(let range):
                if range.lowerBound != run.upperBound {
                    bytes.append(contentsOf: scalars[run])
                    run = range.lowerBound..<range.lowerBound
                }
                offsets.append(Int32(bytes.count + run.count))
                run = run.lowerBound..<range.upperBound
            case .container(let isDictionary, let parts):
                bytes.append(contentsOf: scalars[run])
                run = 0..<0
                offsets.append(Int32(bytes.count))
                bytes.appendMarker(isDictionary ? 0xD0 : 0xA0, count: isDictionary ? parts.count / 2 : parts.count)
                bytes.appendBigEndian(references[parts], size: referenceSize)
            }
        }
        bytes.append(contentsOf: scalars[run])
        let table = bytes.count
        let offsetSize = Self.width(of: table)
        bytes.appendBigEndian(offsets[...], size: offsetSize)
        bytes.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        for number in [objects.count, 0, table] { bytes.appendBigEndian(UInt64(number)) }
        return Data(bytes)
    }

    /// The number of bytes for a number. Foundation rejects a list if its count of objects, or the start of its table,
    /// does not fit into a reference or an offset, although only smaller numbers are written there.
    private static func width(of number: Int) -> Int {
        let number = UInt64(number)
        return number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }
}
