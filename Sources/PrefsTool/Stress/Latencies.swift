/// A histogram of durations. The width of a bucket is 1/32 of the duration, so that millions of values need little memory.
struct Latencies {
    private var counts: [Int: Int] = [:]
    private var count = 0
    private(set) var longest: UInt64 = 0

    mutating func add(_ nanoseconds: UInt64) {
        counts[Self.bucket(nanoseconds), default: 0] += 1
        count += 1
        longest = max(longest, nanoseconds)
    }

    /// Returns the percentile in nanoseconds, with an error of at most 3%.
    func percentile(_ percent: Int) -> UInt64 {
        var rest = (count * percent + 99) / 100
        for (bucket, number) in counts.sorted(by: { $0.key < $1.key }) {
            rest -= number
            if rest <= 0 { return min(Self.end(of: bucket), longest) }
        }
        return longest
    }

    /// Combines the first six bits of a number with the number of bits that follow.
    private static func bucket(_ number: UInt64) -> Int {
        let shift = max(0, 64 - number.leadingZeroBitCount - 6)
        return shift << 6 | Int(number >> UInt64(shift))
    }

    private static func end(of bucket: Int) -> UInt64 {
        let shift = UInt64(bucket >> 6)
        return (UInt64(bucket & 63) + 1) << shift - 1
    }
}
