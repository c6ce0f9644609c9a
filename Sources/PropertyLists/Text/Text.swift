public import Foundation

/// Strings are compared, hashed and measured by their bytes.
extension String {
    /// The text of UTF-8 bytes; nil if they are not UTF-8. Replaces `String(validating:as:)`, which needs macOS 15 and
    /// iOS 18.
    package init?(validUTF8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // A repaired text has other bytes, because it is UTF-8.
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }

    /// The text of UTF-8 bytes in memory; nil if they are not UTF-8.
    package init?(validUTF8 bytes: UnsafeRawBufferPointer) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasBytes(bytes) else { return nil }
        self = text
    }

    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var text = self
        return text.withUTF8 { UnsafeRawBufferPointer($0).hasSameBytes(as: bytes) }
    }

    /// The bytes that the text takes in a binary property list: as ASCII, or as UTF-16 if one character is not ASCII.
    package var encodedBytes: Int {
        // The two counts are equal if the text is ASCII. A string knows that.
        let (bytes, units) = (utf8.count, utf16.count)
        return bytes == units ? bytes : 2 * units
    }

    /// Whether two texts have equal bytes. Texts that Swift considers equal may have different characters.
    package func hasSameBytes(as other: String) -> Bool {
        // Short texts, and texts that share their storage, are equal in their two words.
        if hasSameWords(as: other) { return true }
        var other = other
        return other.withUTF8 { hasBytes(UnsafeRawBufferPointer($0)) }
    }

    /// The order of the bytes. Swift's `<` is not a consistent order of partly composed texts: the order of two
    /// spellings of "é3" and "é37" depends on the other texts (6.3.1).
    package func precedes(_ other: String) -> Bool {
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard let start = left.baseAddress, let other = right.baseAddress else {
                    return left.count < right.count
                }
                let order = memcmp(start, other, min(left.count, right.count))
                return order < 0 || order == 0 && left.count < right.count
            }
        }
    }

    /// The first eight bytes as a number that has their order. A text that has fewer is before a longer one.
    var firstBytes: UInt64 {
        var text = self
        return text.withUTF8 { bytes in
            if bytes.count >= 8 {
                return UInt64(bigEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(as: UInt64.self))
            }
            return bytes.reduce(0) { $0 << 8 | UInt64($1) } << (64 - 8 * UInt64(bytes.count))
        }
    }

    /// Whether two texts are equal in their two words. False on watches where a text is not two words of 64 bits.
    func hasSameWords(as other: String) -> Bool {
        guard MemoryLayout<String>.size == MemoryLayout<Words>.size else { return false }
        let (left, right) = (unsafeBitCast(self, to: Words.self), unsafeBitCast(other, to: Words.self))
        return left.0 == right.0 && left.1 == right.1
    }

    private typealias Words = (UInt64, UInt64)

    /// Hashes the bytes. The hash function of String normalizes the characters, which takes too long for a long text.
    func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension [String] {
    /// The places of the texts in the order of their bytes.
    @inline(never) package var placesByBytes: [Int] { indices.sorted { self[$0].precedes(self[$1]) } }
}

extension Sequence {
    /// The elements in the order of the bytes of a text that each has. Sorts the places of the texts, because a sort of
    /// the elements would be compiled for each of their types.
    package func sorted(byText text: (Element) -> String) -> [Element] {
        let elements = Array(self)
        return elements.map(text).placesByBytes.map { elements[$0] }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let start = baseAddress, let other = other.baseAddress else {
            return count == other.count
        }
        return memcmp(start, other, count) == 0
    }
}

/// An accessor that keeps the type of the error that its closure throws. Foundation's accessors lose it.
extension Data {
    @inlinable package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes { buffer in
            Result { () throws(E) in try body(buffer) }
        }.get()
    }

    /// Whether both have equal bytes. Foundation's == would be compiled into each caller.
    @inline(never) package func hasSameBytes(as other: Data) -> Bool {
        withUnsafeBytes(other.hasBytes)
    }

    @inline(never) private func hasBytes(_ other: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes(other.hasSameBytes)
    }
}

// MARK: - Texts that take long to compare

/// The limit on the cost of hashing and comparing a key.
///
/// Swift brings combining marks into an order when it hashes or compares a String. Every reader and the vetter reject a
/// key that is not in the Stream-Safe Text Format of Unicode Standard Annex #15, so no key takes more than linear time.
/// Values are compared by their bytes and need no limit.
package enum StreamSafeText {
    /// The most combining marks in a row.
    static let longestRun = 30

    package static let reason = "a key has more than \(longestRun) combining marks in a row"

    /// Costs nothing for a text of at most 60 bytes, and linear time for a longer one.
    @inline(__always)
    package static func isSafe(_ text: String) -> Bool {
        // A mark takes two bytes or more.
        text.utf8.count <= 2 * longestRun || isLongTextSafe(text)
    }

    private static func isLongTextSafe(_ text: String) -> Bool {
        var run = 0
        for scalar in text.unicodeScalars {
            if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
                run = 0
            } else {
                run += 1
                if run > longestRun { return false }
            }
        }
        return true
    }
}
