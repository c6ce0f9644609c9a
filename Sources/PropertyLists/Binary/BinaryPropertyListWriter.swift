import Foundation

/// Writes a binary property list. Keys are sorted, so that equal values give equal bytes in every process. Works without
/// recursion, because the stack of a thread may be small.
///
/// The format: a magic, objects, a table of their offsets, and a trailer of 32 bytes. The object of a container
/// consists of references, whose width depends on the number of objects. So the objects are found first, level by
/// level, and then written. The parts of a container follow each other.
///
/// A scalar that occurs twice is written twice. To look for it takes longer than to write it, and 60 recipes of AutoPkg
/// are 3 % larger for it (2026-11-28); lists of similar dictionaries are up to twice as large.
struct BinaryPropertyListWriter {
    private enum Object {
        /// The bytes of a scalar, in `scalars`.
        case scalar(Range<Int>)
        /// The numbers of its parts; in a dictionary, first of the keys and then of the values.
        case container(isDictionary: Bool, Range<Int>)
    }

    private var objects: [Object] = []
    /// The containers whose parts are not found yet, in the order of their objects, with the number of those around them.
    private var waiting: [(object: Int, value: StoredValue, levels: Int)] = []
    private var scalars: [UInt8] = []
    /// Why no reader would accept the list.
    private var flaw: String?

    /// - Throws: why this package would not read the list.
    static func data(from value: StoredValue) throws(PropertyListFailure) -> Data {
        var writer = Self()
        // A small list then takes one allocation.
        writer.objects.reserveCapacity(32)
        writer.add(value, levels: 0)
        var next = 0
        while next < writer.waiting.count {
            let (object, value, levels) = writer.waiting[next]
            writer.addParts(of: value, object, levels: levels + 1)
            next += 1
        }
        if writer.objects.count > PropertyListLimits.fileNodes {
            writer.flaw = "could not be read again: has more than \(PropertyListLimits.fileNodes) values"
        }
        if let flaw = writer.flaw { throw PropertyListFailure(path: "", topLevelKey: "", reason: flaw) }
        return writer.written()
    }

    // MARK: - Finding the objects

    private mutating func add(_ value: StoredValue, levels: Int) {
        // A scalar counts, too, as in the reader.
        if levels > PropertyListLimits.fileDepth {
            flaw = "could not be read again: nested deeper than \(PropertyListLimits.fileDepth) levels"
            return
        }
        guard value.isContainer else { return objects.append(.scalar(append(value))) }
        waiting.append((objects.count, value, levels))
        objects.append(.container(isDictionary: false, 0..<0))
    }

    private mutating func addParts(of value: StoredValue, _ object: Int, levels: Int) {
        let start = objects.count
        if case .dictionary(let members) = value {
            // Not reserved: an exact reservation for each dictionary would copy all objects each time.
            let order = members.indicesByBytes
            for place in order { objects.append(.scalar(append(.string(members.keys[place])))) }
            for place in order { add(members.values[place], levels: levels) }
        } else {
            for element in value.array ?? [] { add(element, levels: levels) }
        }
        objects[object] = .container(isDictionary: value.dictionary != nil, start..<objects.count)
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
        case .foreign: flaw = "holds an object that no property list can hold"
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
        bytes.reserveCapacity(scalars.count + objects.count * (referenceSize + 4) + 64)
        bytes.append(contentsOf: "bplist00".utf8)
        var offsets: [Int] = []
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
                offsets.append(bytes.count + run.count)
                run = run.lowerBound..<range.upperBound
            case .container(let isDictionary, let parts):
                bytes.append(contentsOf: scalars[run])
                run = 0..<0
                offsets.append(bytes.count)
                bytes.appendMarker(isDictionary ? 0xD0 : 0xA0, count: isDictionary ? parts.count / 2 : parts.count)
                bytes.appendBigEndian(parts, size: referenceSize)
            }
        }
        bytes.append(contentsOf: scalars[run])
        let table = bytes.count
        let offsetSize = Self.width(of: table)
        bytes.appendBigEndian(offsets, size: offsetSize)
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
