import Foundation

/// Writes a binary property list: keys sorted, so that equal values are equal bytes, scalars that occur
/// twice written once, and no recursion, which on the small stack of a thread has an end.
///
/// The format: a magic, objects, a table of their offsets, and a trailer of 32 bytes. A container's object is references to
/// others, as wide as their number needs; so the objects are found first, level by level, and then written.
struct BinaryPropertyListWriter {
    private enum Object {
        /// Ready-made, in `scalars`.
        case scalar(Range<Int>)
        /// The references to its elements, in `references`.
        case list(Range<Int>)
        /// Those to its keys, and to their values.
        case dictionary(Range<Int>)
        case waiting(StoredValue)
    }

    private var objects: [Object] = []
    private var references: [Int32] = []
    private var scalars: [UInt8] = []
    private var interned = ByteTable()

    static func data(from value: StoredValue) -> Data {
        var writer = Self()
        writer.objects.append(.waiting(value))
        var next = 0
        while next < writer.objects.count {
            if case .waiting(let value) = writer.objects[next] { writer.objects[next] = writer.object(for: value) }
            next += 1
        }
        return writer.written()
    }

    // MARK: - Finding the objects

    private mutating func object(for value: StoredValue) -> Object {
        let start = references.count
        switch value {
        case .array(let elements):
            for element in elements { references.append(reference(to: element)) }
            return .list(start..<references.count)
        case .dictionary(let members):
            let sorted = members.sorted { $0.key < $1.key }
            for member in sorted { references.append(reference(to: .string(member.key))) }
            for member in sorted { references.append(reference(to: member.value)) }
            return .dictionary(start..<references.count)
        default:
            return .scalar(append(value))
        }
    }

    private mutating func reference(to value: StoredValue) -> Int32 {
        switch value {
        case .array, .dictionary:
            objects.append(.waiting(value))
        default:
            let bytes = append(value)
            let number = Int32(objects.count)
            let known = interned.insert(bytes, number, in: scalars)
            if known != number {
                scalars.removeSubrange(bytes)
                return known
            }
            objects.append(.scalar(bytes))
        }
        return Int32(objects.count - 1)
    }

    /// Writes a scalar behind the others.
    private mutating func append(_ scalar: StoredValue) -> Range<Int> {
        let start = scalars.count
        switch scalar {
        case .string(let text): scalars.appendText(text)
        case .bool(let bool): scalars.append(bool ? 0x09 : 0x08)
        case .integer(let value): scalars.appendInteger(value)
        case .unsigned(let value):
            // Takes 16 bytes, because eight would be read as negative.
            scalars.append(0x14)
            scalars.appendBigEndian(0)
            scalars.appendBigEndian(value)
        case .real(let value):
            scalars.append(0x23)
            scalars.appendBigEndian(value.bitPattern)
        case .date(let date):
            scalars.append(0x33)
            scalars.appendBigEndian(date.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let data):
            scalars.appendMarker(0x40, count: data.count)
            scalars.append(contentsOf: data)
        case .uid(let uid): scalars.appendUID(uid.value)
        // A marker that no reader accepts, so that the check of the written bytes rejects them.
        case .foreign: scalars.append(0x70)
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
        var offsets: [Int] = []
        offsets.reserveCapacity(objects.count)
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .scalar(let range):
                bytes.append(contentsOf: scalars[range])
            case .list(let range):
                bytes.appendMarker(0xA0, count: range.count)
                for reference in references[range] { bytes.appendBigEndian(Int(reference), size: referenceSize) }
            case .dictionary(let range):
                bytes.appendMarker(0xD0, count: range.count / 2)
                for reference in references[range] { bytes.appendBigEndian(Int(reference), size: referenceSize) }
            case .waiting: preconditionFailure("the object was not visited")
            }
        }
        let table = bytes.count
        let offsetSize = Self.width(of: table)
        for offset in offsets { bytes.appendBigEndian(offset, size: offsetSize) }
        bytes.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        for number in [objects.count, 0, table] { bytes.appendBigEndian(number, size: 8) }
        return Data(bytes)
    }

    /// The bytes that this number takes. Foundation rejects a list if its count of objects, or the start of its table, does not fit into
    /// the bytes of a reference or of an offset, although only smaller numbers are written there.
    private static func width(of number: Int) -> Int {
        let number = UInt64(number)
        return number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian(_ value: Int, size: Int) {
        appendBigEndian(UInt64(value), size: size)
    }

    /// Writes 64 bits, whatever the size of an Int: the watch has Ints of 32 bits.
    fileprivate mutating func appendBigEndian(_ value: UInt64, size: Int = 8) {
        Swift.withUnsafeBytes(of: value.bigEndian) {
            append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[(8 - size)...]))
        }
    }

    /// The kind of an object and its count. A count of 15 or more takes a separate integer.
    fileprivate mutating func appendMarker(_ kind: UInt8, count: Int) {
        if count < 15 { return append(kind | UInt8(count)) }
        append(kind | 0x0F)
        appendInteger(Int64(count))
    }

    /// Takes 1, 2, 4 or 8 bytes, as in Foundation and plistlib.
    fileprivate mutating func appendUID(_ value: UInt64) {
        let size = value < 1 << 8 ? 1 : value < 1 << 16 ? 2 : value < 1 << 32 ? 4 : 8
        append(0x80 | UInt8(size - 1))
        appendBigEndian(value, size: size)
    }

    /// Up to four bytes are read without a sign.
    fileprivate mutating func appendInteger(_ value: Int64) {
        let power =
            switch value {
            case 0..<(1 << 8): 0
            case 0..<(1 << 16): 1
            case 0..<(1 << 32): 2
            default: 3
            }
        append(0x10 | UInt8(power))
        appendBigEndian(UInt64(bitPattern: value), size: 1 << power)
    }

    /// Writes ASCII, or UTF-16 if one character is not ASCII.
    fileprivate mutating func appendText(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            if bytes.allSatisfy({ $0 < 0x80 }) {
                appendMarker(0x50, count: bytes.count)
                append(contentsOf: bytes)
            } else {
                let units = [UTF16.CodeUnit](String(decoding: bytes, as: UTF8.self).utf16)
                appendMarker(0x60, count: units.count)
                for unit in units { appendBigEndian(Int(unit), size: 2) }
            }
        }
    }
}
