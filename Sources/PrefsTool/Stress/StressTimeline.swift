import Foundation

/// When writes were acknowledged and processes killed. Its memory does not grow with the time.
struct StressTimeline {
    private let start = DispatchTime.now().uptimeNanoseconds
    /// The number of writes by interval.
    private var counts: [Int] = []
    private var interval: UInt64 = 1_000_000
    private var kills: [UInt64] = []

    private static let maxCount = 4_096

    mutating func addWrite() {
        let time = DispatchTime.now().uptimeNanoseconds - start
        while time / interval >= Self.maxCount {
            counts = stride(from: 0, to: counts.count, by: 2).map { counts[$0] + (counts[safe: $0 + 1] ?? 0) }
            interval *= 2
        }
        let index = Int(time / interval)
        if index >= counts.count { counts += Array(repeating: 0, count: index + 1 - counts.count) }
        counts[index] += 1
    }

    mutating func addKill() {
        kills.append(DispatchTime.now().uptimeNanoseconds - start)
    }

    struct Period: Equatable {
        /// Its end, in seconds after the start.
        let end: Double
        let writes: Int
        let seconds: Double
        let kills: Int

        var rate: Int { Int(Double(writes) / max(seconds, 0.001)) }
    }

    /// The time from the start to the last event, in equal periods.
    func periods(_ count: Int) -> [Period] {
        let total = max(counts.count, Int((kills.max() ?? 0) / interval) + 1)
        let width = max(1, (total + count - 1) / count)
        return stride(from: 0, to: total, by: width).map { first in
            let end = min(first + width, total)
            let range = UInt64(first) * interval..<UInt64(end) * interval
            return Period(
                end: Double(range.upperBound) / 1e9,
                writes: counts[min(first, counts.count)..<min(end, counts.count)].reduce(0, +),
                seconds: Double(range.upperBound - range.lowerBound) / 1e9, kills: kills.filter(range.contains).count)
        }
    }
}
