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
