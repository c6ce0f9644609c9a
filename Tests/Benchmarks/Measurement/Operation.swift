import Foundation

/// The operation of a row.
struct Operation {
    /// Repeats the operation at least `count` times, and returns the seconds of one.
    let run: (_ count: Int) throws -> Double

    /// - Parameters:
    ///   - verify: called after each sample, to check the results outside of the measured time.
    ///   - body: gets a new number at each call.
    static func each(
        verify: @escaping () throws -> Void = {}, _ body: @escaping (Int) throws -> Void
    ) -> Operation {
        var next = 0
        return Operation { count in
            let numbers = next..<(next + count)
            next += count
            let clock = ContinuousClock()
            let start = clock.now
            for number in numbers { try body(number) }
            let seconds = start.duration(to: clock.now) / .seconds(1)
            try verify()
            return seconds / Double(count)
        }
    }

    /// Repeats an operation with a pause after each, which is not measured.
    ///
    /// - Parameter pause: in seconds. The medium may still be busy with the operation before.
    static func spaced(by pause: Double, _ body: @escaping (Int) throws -> Void) -> Operation {
        var next = 0
        return Operation { count in
            let clock = ContinuousClock()
            var times: [Double] = []
            for _ in 0..<count {
                next += 1
                let start = clock.now
                try body(next)
                times.append(start.duration(to: clock.now) / .seconds(1))
                usleep(UInt32(pause * 1e6))
            }
            return times.sorted()[count / 2]
        }
    }

    /// Repeats the read of a value that is not 0, so that a read that finds nothing does not count as fast. The closure
    /// returns the value, so that the compiler cannot remove the work.
    static func reads(verify: @escaping () throws -> Void = {}, _ body: @escaping () throws -> Int) throws -> Operation
    {
        func check() throws {
            try verify()
            if try body() == 0 { throw Unavailable("it reads nothing") }
        }
        try check()
        return .each(verify: check) { _ in _ = try body() }
    }

    /// Repeats an operation in several threads at once. The result is the seconds from the common start to the end of
    /// the last thread, divided by the number of operations.
    static func inThreads(
        _ threads: Int, verify: @escaping () throws -> Void = {},
        _ body: @escaping @Sendable (_ thread: Int, Int) -> Int
    ) -> Operation {
        var next = 0
        return Operation { count in
            let share = (count + threads - 1) / threads
            let numbers = next..<(next + share)
            next += share
            let seconds = race(threads) { thread in
                for number in numbers { _ = body(thread, number) }
            }
            try verify()
            return seconds / Double(share * threads)
        }
    }

    /// Runs the closure in threads that start together. Returns the seconds from their start to the end of the last one.
    private static func race(_ threads: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) -> Double {
        let (waiting, running) = (DispatchGroup(), DispatchGroup())
        let start = DispatchSemaphore(value: 0)
        for thread in 0..<threads {
            waiting.enter()
            running.enter()
            Thread.detachNewThread {
                waiting.leave()
                start.wait()
                body(thread)
                running.leave()
            }
        }
        waiting.wait()
        let clock = ContinuousClock()
        let begin = clock.now
        for _ in 0..<threads { start.signal() }
        running.wait()
        return begin.duration(to: clock.now) / .seconds(1)
    }
}
