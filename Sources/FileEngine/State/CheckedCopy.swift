package import Foundation
package import PrefsPropertyLists

/// The form of a last good copy: a line with the length and the checksum of the bytes, then the bytes of the commit.
///
/// A copy is written in place and is not flushed. After a kill or a power cut it may be a mixture of two copies; then
/// the checksum is wrong. Copies of the first edition have no such line. `tail -n +2` prints the bytes of a copy.
package enum CheckedCopy {
    /// The first bytes of a copy. The first byte distinguishes it from the formats of property lists.
    static let magic = Array("PrefsCopy 1 ".utf8)
    /// The magic and two numbers of 16 hexadecimal digits, each with a blank or a line feed after it.
    package static let headerSize = magic.count + 2 * 17

    /// - Parameter checksum: the checksum of the bytes, if it is known.
    static func copy(of bytes: FileBytes, checksum: UInt64? = nil) -> Data {
        var copy = Data(capacity: headerSize + bytes.count)
        copy.append(contentsOf: magic)
        copy.append(contentsOf: digits(UInt64(bytes.count), " ") + digits(checksum ?? Self.checksum(bytes), "\n"))
        bytes.forEachPart { copy.append($0) }
        return copy
    }

    /// The bytes of the commit. A copy of the first edition has no header and is returned unchanged.
    ///
    /// - Throws: `PropertyListFault` for a torn copy.
    package static func bytes(of copy: Data) throws(PropertyListFault) -> Data {
        let header = Array(copy.prefix(headerSize))
        guard header.starts(with: magic) else { return copy }
        let numbers = header.dropFirst(magic.count)
        // The copy may be longer, if its writer was killed before it cut off the rest of a longer copy.
        guard let length = number(numbers.prefix(16)), let checksum = number(numbers.dropFirst(17).prefix(16)),
            length <= copy.count - headerSize
        else { throw .malformed("is half written") }
        let bytes = copy.dropFirst(headerSize).prefix(Int(length))
        guard Self.checksum(FileBytes(bytes)) == checksum else { throw .malformed("is half written") }
        return Data(bytes)
    }

    /// A checksum that detects the effects of a kill or a power cut. It does not protect against people, who can write
    /// a whole copy.
    @inline(never) package static func checksum(_ bytes: FileBytes) -> UInt64 {
        var sum = UInt64(bytes.count)
        bytes.forEachPart { part in sum = part.withUnsafeBytes { mix(sum, $0) } }
        return sum
    }

    private static func mix(_ sum: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        // Each step is reversible, so that a change of a single word always shows.
        func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
            let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
            return product ^ product >> 32
        }
        var sum = sum
        let words = bytes.count / 8 * 8
        for start in stride(from: 0, to: words, by: 8) {
            sum = mix(sum, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
        }
        for byte in bytes[words...] { sum = mix(sum, UInt64(byte)) }
        return sum
    }

    private static func digits(_ number: UInt64, _ end: Unicode.Scalar) -> [UInt8] {
        let digits = stride(from: 60, through: 0, by: -4).map { shift in
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift) & 0xF)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
        return digits + [UInt8(ascii: end)]
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        let number = strtoull(String(decoding: digits, as: UTF8.self), nil, 16)
        return Self.digits(number, " ").dropLast() == digits ? number : nil
    }
}
