import Foundation

/// Finds short runs of bytes that have occurred before.
struct ByteTable {
    private struct Entry {
        var bytes: Range<Int>
        var number: Int32
    }

    private var slots: [Entry?] = Array(repeating: nil, count: 64)
    private var count = 0

    /// Longer runs are rarely equal, and sharing them would make reads more expensive.
    static let longest = 64

    static func areEqual(_ left: Range<Int>, _ right: Range<Int>, in all: [UInt8]) -> Bool {
        left.count == right.count
            && all.withUnsafeBytes { all in
                guard let start = all.baseAddress else { return true }
                return memcmp(start + left.lowerBound, start + right.lowerBound, left.count) == 0
            }
    }

    /// - Returns: the number of equal bytes if they are known. If not, adds the bytes under the given number and
    ///   returns it.
    mutating func insert(_ bytes: Range<Int>, _ number: Int32, in all: [UInt8]) -> Int32 {
        guard bytes.count <= Self.longest else { return number }
        if count * 2 >= slots.count { grow(to: slots.count * 2, all) }
        var slot = hash(bytes, all) & (slots.count - 1)
        while let entry = slots[slot] {
            if Self.areEqual(entry.bytes, bytes, in: all) { return entry.number }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = Entry(bytes: bytes, number: number)
        count += 1
        return number
    }

    /// Reserves room for more entries, because a table that grows hashes all entries again.
    mutating func reserve(_ more: Int, in all: [UInt8]) {
        var size = slots.count
        while (count + more) * 2 >= size { size *= 2 }
        if size > slots.count { grow(to: size, all) }
    }

    private mutating func grow(to size: Int, _ all: [UInt8]) {
        let old = slots
        slots = Array(repeating: nil, count: size)
        for entry in old {
            guard let entry else { continue }
            var slot = hash(entry.bytes, all) & (slots.count - 1)
            while slots[slot] != nil { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = entry
        }
    }

    private func hash(_ bytes: Range<Int>, _ all: [UInt8]) -> Int {
        // A hash with a random seed per process, because chosen collisions would take quadratic time.
        var hasher = Hasher()
        all.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[bytes])) }
        return hasher.finalize() & Int.max
    }
}
