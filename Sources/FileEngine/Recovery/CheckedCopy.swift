package import Foundation
package import PrefsPropertyLists

/// The form of a last good copy: a line with the length and the checksum of the bytes, then the bytes of the commit.
///
/// A copy is written in place and is not flushed. After a kill or a power cut it may be a mixture of two copies; then the checksum is
/// wrong. The first edition renamed its copies into place and wrote the bytes alone. `tail -n +2` prints the bytes of a copy.
package enum CheckedCopy {
    /// Distinguishes a copy from the formats of property lists, by its first byte.
    static let magic = Data("PrefsCopy 1 ".utf8)
    /// Two numbers of 16 hexadecimal digits, each with a blank or a line feed after it.
    package static let headerSize = magic.count + 2 * 17

    /// - Parameter checksum: that of the bytes, if it is known.
    static func copy(of bytes: Data, checksum: UInt64? = nil) -> Data {
        var copy = Data(capacity: headerSize + bytes.count)
        copy += magic
        copy += digits(UInt64(bytes.count), " ") + digits(checksum ?? Self.checksum(bytes), "\n")
        copy += bytes
        return copy
    }

    /// The bytes of the commit. A copy of the first edition has no header, and is returned as it is.
    ///
    /// - Throws: `DecodingFailure.malformed` for a torn copy.
    package static func bytes(of copy: Data) throws(DecodingFailure) -> Data {
        guard copy.starts(with: magic) else { return copy }
        let numbers = copy.dropFirst(magic.count).prefix(2 * 17)
        // A longer copy was written over and not cut off: its writer was killed in between.
        guard let length = number(numbers.prefix(16)), let checksum = number(numbers.dropFirst(17).prefix(16)),
            length <= copy.count - headerSize
        else { throw .malformed("is half written") }
        let bytes = copy.dropFirst(headerSize).prefix(Int(length))
        guard Self.checksum(bytes) == checksum else { throw .malformed("is half written") }
        return Data(bytes)
    }

    /// Finds what a kill or a power cut does to a file. It is no protection against people, who can write the copy as a whole.
    static func checksum(_ bytes: Data) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            // Each step is reversible, so that a change of a single word always shows.
            func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
                let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
                return product ^ product >> 32
            }
            var sum = UInt64(bytes.count)
            let words = bytes.count / 8 * 8
            for start in stride(from: 0, to: words, by: 8) {
                sum = mix(sum, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
            }
            for byte in bytes[words...] { sum = mix(sum, UInt64(byte)) }
            return sum
        }
    }

    private static func digits(_ number: UInt64, _ end: Unicode.Scalar) -> [UInt8] {
        let digits = stride(from: 60, through: 0, by: -4).map { shift in
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift) & 0xF)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
        return digits + [UInt8(ascii: end)]
    }

    private static func number(_ digits: Data) -> UInt64? {
        UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
