import Foundation

/// A process that writes, and reports each write that returned. `prefs stress` starts several of them.
enum StressWorker {
    /// The first argument of such a process. It is not a public command.
    static let commandName = "stress-worker"

    /// - Parameter deadline: the uptime in nanoseconds at which no further write begins; 0 if there is none.
    static func arguments(file: String, process: Int, writes: Int, deadline: UInt64, done: [Int]) -> [String] {
        [commandName, file, "\(process)", "\(writes)", "\(deadline)"] + done.map(String.init)
    }

    /// One line of a worker's output.
    enum Message {
        /// A write returned. Its duration is in nanoseconds.
        case done(thread: Int, nanoseconds: UInt64)
        /// A write failed, or the value that was read back differs.
        case failed(String)

        init?(_ line: Substring) {
            if line.hasPrefix("!") {
                self = .failed(String(line.dropFirst()))
                return
            }
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 2, let thread = Int(exactly: numbers[0]) else { return nil }
            self = .done(thread: thread, nanoseconds: numbers[1])
        }
    }

    /// Makes the remaining writes of each thread.
    static func run(_ words: [String]) -> Outcome {
        guard words.count >= 5, let process = Int(words[1]), let writes = Int(words[2]), let end = UInt64(words[3])
        else {
            return .failure(
                "`\(commandName)` is internal to `prefs stress`", code: Outcome.usageErrorCode, asJSON: false)
        }
        let (file, parent) = (words[0], getppid())
        let threads = DispatchGroup()
        for (thread, done) in words[4...].compactMap(Int.init).enumerated() where done < writes {
            threads.enter()
            Thread.detachNewThread {
                let prefs = StressPrefs(process: process, thread: thread, file: file)
                for number in done..<writes {
                    let start = DispatchTime.now().uptimeNanoseconds
                    if end > 0, start >= end { break }
                    do {
                        let stored = try prefs.write(number)
                        report("\(thread) \(DispatchTime.now().uptimeNanoseconds - start)")
                        if let mismatch = prefs.mismatch(in: stored) { fail(mismatch) }
                    } catch {
                        fail("\(error)")
                    }
                    // Ends if the parent process is gone.
                    if getppid() != parent { exit(Outcome.failureCode) }
                }
                threads.leave()
            }
        }
        threads.wait()
        return Outcome()
    }

    private static func fail(_ reason: String) -> Never {
        report("!\(reason)".printable)
        exit(Outcome.failureCode)
    }

    /// Writes a line with one system call and without a buffer, so that a kill cannot lose it. A write of this size to a pipe is atomic.
    private static func report(_ line: String) {
        let bytes = Array((line.prefix(1_000) + "\n").utf8)
        if write(STDOUT_FILENO, bytes, bytes.count) != bytes.count { exit(Outcome.failureCode) }
    }
}
