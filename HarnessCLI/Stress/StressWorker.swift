import Foundation

/// A process that writes, and tells of each write that has returned: `prefs stress` starts some of these.
enum StressWorker {
    /// The word that makes this program one. It is no command for people.
    static let commandName = "stress-worker"

    static func arguments(file: String, process: Int, writes: Int, done: [Int]) -> [String] {
        [commandName, file, "\(process)", "\(writes)"] + done.map(String.init)
    }

    /// One line of what a worker tells.
    enum Message {
        /// A write has returned, after so many nanoseconds.
        case done(thread: Int, nanoseconds: UInt64)
        /// A write was refused, or does not read as it was stored.
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

    /// Makes each thread's writes from the number that it has come to.
    static func run(_ words: [String]) -> Outcome {
        guard words.count >= 4, let process = Int(words[1]), let writes = Int(words[2]) else {
            return .failure("`\(commandName)` is for `prefs stress` alone", code: Outcome.usageErrorCode, asJSON: false)
        }
        let (file, parent) = (words[0], getppid())
        let threads = DispatchGroup()
        for (thread, done) in words[3...].compactMap(Int.init).enumerated() where done < writes {
            threads.enter()
            Thread.detachNewThread {
                let prefs = StressPrefs(process: process, thread: thread, file: file)
                for number in done..<writes {
                    let start = DispatchTime.now().uptimeNanoseconds
                    do {
                        let stored = try prefs.write(number)
                        report("\(thread) \(DispatchTime.now().uptimeNanoseconds - start)")
                        if let mismatch = prefs.mismatch(in: stored) { fail(mismatch) }
                    } catch {
                        fail("\(error)")
                    }
                    // Whoever counts is gone.
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

    /// With a system call of its own, and not through a buffer: what was told is in the pipe when a kill comes. So short a
    /// line goes in whole.
    private static func report(_ line: String) {
        let bytes = Array((line.prefix(1_000) + "\n").utf8)
        if write(STDOUT_FILENO, bytes, bytes.count) != bytes.count { exit(Outcome.failureCode) }
    }
}
