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
