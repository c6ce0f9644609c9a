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

    /// The number of durations by range. Each range ends at twice, four or eight times its start, so that there are at most eight.
    func histogram() -> [(range: Range<UInt64>, count: Int)] {
        func exponent(_ bucket: Int) -> Int { 63 - max(1, Self.end(of: bucket)).leadingZeroBitCount }
        let exponents = counts.keys.map(exponent)
        guard let first = exponents.min(), let last = exponents.max() else { return [] }
        let step = (last - first) / 8 + 1
        return stride(from: first, through: last, by: step).map { start in
            let end = min(start + step, 63)
            let number = counts.reduce(0) { $0 + ((start..<end).contains(exponent($1.key)) ? $1.value : 0) }
            return (1 << UInt64(start)..<1 << UInt64(end), number)
        }
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
