import Foundation

/// A histogram of durations with 32 buckets for each power of two, so that millions of writes need little memory.
struct Latencies {
    private var counts: [Int: Int] = [:]
    private var longest = 0.0

    mutating func add(nanoseconds: Int) {
        let duration = Double(max(1, nanoseconds))
        counts[Int(log2(duration) * 32), default: 0] += 1
        longest = max(longest, duration)
    }

    /// Returns the percentile in microseconds, at most 3% too long.
    func percentile(_ percent: Int) -> Int {
        var rest = (counts.values.reduce(0, +) * percent + 99) / 100
        let bucket = counts.sorted { $0.key < $1.key }.first { _, count in
            rest -= count
            return rest <= 0
        }
        return Int(min(exp2(Double((bucket?.key ?? 0) + 1) / 32), longest) / 1_000)
    }
}
