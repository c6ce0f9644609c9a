import Foundation

/// What a row does, so many times.
struct Operation {
    /// Does it so many times, or a few more, and gives the seconds that one took.
    let run: (_ count: Int) throws -> Double

    /// - Parameters:
    ///   - verify: called after each sample, for what the operation would have to look at itself.
    ///   - body: gets a number that no call before had, and gives something of its result, so that none of it can be
    ///     left out.
    static func each(
        verify: @escaping () throws -> Void = {}, _ body: @escaping (Int) throws -> Int
    ) -> Operation {
        var next = 0
        return Operation { count in
            let numbers = next..<(next + count)
            next += count
            let clock = ContinuousClock()
            let start = clock.now
            for number in numbers { _ = try body(number) }
            let seconds = start.duration(to: clock.now) / .seconds(1)
            try verify()
            return seconds / Double(count)
        }
    }

    /// The same with a pause after each, which is not measured, nor is what is done in it.
    ///
    /// - Parameter pause: in seconds. A medium may still be busy with what the operation before has left.
    static func spaced(
        by pause: Double, _ body: @escaping (Int) throws -> Void, between: @escaping () -> Void = {}
    ) -> Operation {
        var next = 0
        return Operation { count in
            let clock = ContinuousClock()
            var times: [Double] = []
            for _ in 0..<count {
                next += 1
                let start = clock.now
                try body(next)
                times.append(start.duration(to: clock.now) / .seconds(1))
                between()
                usleep(UInt32(pause * 1e6))
            }
            return times.sorted()[count / 2]
        }
    }

    /// A read of a value that is not 0, so that one that finds nothing is not taken for a fast one.
    static func reads(verify: @escaping () throws -> Void = {}, _ body: @escaping () throws -> Int) throws -> Operation
    {
        func check() throws {
            try verify()
            if try body() == 0 { throw Unavailable("it reads nothing") }
        }
        try check()
        return .each(verify: check) { _ in try body() }
    }

    /// The same in several threads at once: the seconds from the start of all to the end of the last, for one operation
    /// of any of them.
    static func inThreads(
        _ threads: Int, verify: @escaping () throws -> Void = {},
        _ body: @escaping @Sendable (_ thread: Int, Int) -> Int
    ) -> Operation {
        var next = 0
        return Operation { count in
            let share = (count + threads - 1) / threads
            let numbers = next..<(next + share)
            next += share
            let seconds = ThreadRace(threads).run { thread in
                for number in numbers { _ = body(thread, number) }
            }
            try verify()
            return seconds / Double(share * threads)
        }
    }
}
