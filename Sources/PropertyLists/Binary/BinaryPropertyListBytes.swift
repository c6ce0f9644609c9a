/// Appends the parts of a binary property list.
extension [UInt8] {
    /// Writes numbers of one size.
    mutating func appendBigEndian(_ numbers: some Collection<Int>, size: Int) {
        // A few numbers are written without an allocation.
        guard numbers.count > 32 else {
            for number in numbers { appendBigEndian(UInt64(number), size: size) }
            return
        }
        append(
            contentsOf: [UInt8](unsafeUninitializedCapacity: numbers.count * size) { bytes, written in
                var place = 0
                for number in numbers {
                    // Most lists have less than 65,536 objects and bytes.
                    switch size {
                    case 1: bytes[place] = UInt8(truncatingIfNeeded: number)
                    case 2:
                        bytes[place] = UInt8(truncatingIfNeeded: number >> 8)
                        bytes[place + 1] = UInt8(truncatingIfNeeded: number)
                    default:
                        for byte in 0..<size {
                            bytes[place + byte] = UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - byte)))
                        }
                    }
                    place += size
                }
                written = place
            })
    }

    /// Writes 64 bits, because an Int has 32 bits on some watches.
    mutating func appendBigEndian(_ value: UInt64, size: Int = 8) {
        Swift.withUnsafeBytes(of: value.bigEndian) {
            append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[(8 - size)...]))
        }
    }

    /// Writes the kind of an object and its count. A count of 15 or more takes a separate integer.
    mutating func appendMarker(_ kind: UInt8, count: Int) {
        if count < 15 { return append(kind | UInt8(count)) }
        append(kind | 0x0F)
        appendInteger(Int64(count))
    }

    /// Writes a UID in 1, 2, 4 or 8 bytes, as Foundation and plistlib do.
    mutating func appendUID(_ value: UInt64) {
        let size = value < 1 << 8 ? 1 : value < 1 << 16 ? 2 : value < 1 << 32 ? 4 : 8
        append(0x80 | UInt8(size - 1))
        appendBigEndian(value, size: size)
    }

    /// Writes an integer. Readers read up to four bytes without a sign.
    mutating func appendInteger(_ value: Int64) {
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
    mutating func appendText(_ text: String) {
        var text = text
        text.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            if BinaryPropertyListText.isASCII(bytes) {
                appendMarker(0x50, count: bytes.count)
                append(contentsOf: bytes)
            } else {
                let count = BinaryPropertyListText.unitCount(ofUTF8: bytes)
                appendMarker(0x60, count: count)
                let units = [UInt8](unsafeUninitializedCapacity: 2 * count) { units, written in
                    BinaryPropertyListText.writeUTF16(ofUTF8: bytes, to: UnsafeMutableRawBufferPointer(units))
                    written = 2 * count
                }
                append(contentsOf: units)
            }
        }
    }
}

// MARK: - Texts

/// The texts of binary property lists: ASCII, or big-endian UTF-16. ASCII is recognized by words of eight bytes.
///
/// The standard library's conversions take 20 times as long to read UTF-16, and twice as long to write it (Swift
/// 6.3.1).
enum BinaryPropertyListText {
    /// The high bits of eight bytes. In ASCII, all of them are 0.
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count / 8 * 8
        var bits: UInt64 = 0
        for start in stride(from: 0, to: words, by: 8) {
            bits |= bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        }
        var last: UInt8 = 0
        for position in words..<bytes.count { last |= bytes[position] }
        return bits & highBits == 0 && last < 0x80
    }

    /// The length of the UTF-16 of valid UTF-8.
    static func unitCount(ofUTF8 bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        // A byte that continues a character adds no unit, and the first of four bytes adds two.
        for byte in bytes { count += (byte & 0xC0 == 0x80 ? 0 : 1) + (byte >= 0xF0 ? 1 : 0) }
        return count
    }

    /// Writes valid UTF-8 as UTF-16.
    static func writeUTF16(ofUTF8 bytes: UnsafeRawBufferPointer, to units: UnsafeMutableRawBufferPointer) {
        var position = 0
        var end = 0
        func put(_ unit: UInt32) {
            units.storeBytes(of: UInt16(truncatingIfNeeded: unit).bigEndian, toByteOffset: end, as: UInt16.self)
            end += 2
        }
        func continuation(_ offset: Int) -> UInt32 { UInt32(bytes[position + offset] & 0x3F) }
        while position < bytes.count {
            let first = UInt32(bytes[position])
            switch first {
            case 0..<0x80:
                put(first)
                position += 1
            case 0x80..<0xE0:
                put((first & 0x1F) << 6 | continuation(1))
                position += 2
            case 0xE0..<0xF0:
                put((first & 0x0F) << 12 | continuation(1) << 6 | continuation(2))
                position += 3
            default:
                let scalar =
                    (first & 0x07) << 18 | continuation(1) << 12 | continuation(2) << 6 | continuation(3)
                put(0xD7C0 + scalar >> 10)
                put(0xDC00 | scalar & 0x3FF)
                position += 4
            }
        }
    }

    /// The text of UTF-16, and whether half of a surrogate pair was replaced in it.
    static func text(ofUTF16 units: UnsafeRawBufferPointer) -> (text: String, isRepaired: Bool) {
        var isRepaired = false
        func unit(at position: Int) -> UInt32 { UInt32(units[position]) << 8 | UInt32(units[position + 1]) }
        let text = String(unsafeUninitializedCapacity: units.count / 2 * 3) { bytes in
            var end = 0
            func put(_ byte: UInt32) {
                bytes[end] = UInt8(truncatingIfNeeded: byte)
                end += 1
            }
            var position = 0
            while position < units.count {
                var scalar = unit(at: position)
                position += 2
                if scalar & 0xF800 == 0xD800 {
                    let next = position < units.count ? unit(at: position) : 0
                    if scalar < 0xDC00, next & 0xFC00 == 0xDC00 {
                        scalar = 0x10000 + (scalar & 0x3FF) << 10 | next & 0x3FF
                        position += 2
                    } else {
                        scalar = 0xFFFD
                        isRepaired = true
                    }
                }
                switch scalar {
                case 0..<0x80:
                    put(scalar)
                case 0x80..<0x800:
                    put(0xC0 | scalar >> 6)
                    put(0x80 | scalar & 0x3F)
                case 0x800..<0x10000:
                    put(0xE0 | scalar >> 12)
                    put(0x80 | scalar >> 6 & 0x3F)
                    put(0x80 | scalar & 0x3F)
                default:
                    put(0xF0 | scalar >> 18)
                    put(0x80 | scalar >> 12 & 0x3F)
                    put(0x80 | scalar >> 6 & 0x3F)
                    put(0x80 | scalar & 0x3F)
                }
            }
            return end
        }
        return (text, isRepaired)
    }
}
