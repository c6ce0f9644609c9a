import Foundation
import PrefsTool

/// A process that writes, and reports each write that returned. `prefs stress` starts several of them.
enum StressWorker {
    /// The first argument of such a process. It is not a public command.
    static let commandName = "stress-worker"

    /// Makes the remaining writes of each thread. Reports a write as `PROCESS THREAD NANOSECONDS`, and an error as
    /// `PROCESS: REASON`.
    ///
    /// - Parameter words: the file, the index of the process, the number of writes per thread, the uptime in
    ///   nanoseconds at which no further write begins (0 for no limit), and the number of writes that each thread has
    ///   done.
    static func run(_ words: [String], _ context: ProcessContext) -> Int32 {
        guard words.count >= 5, let process = Int(words[1]), let writes = Int(words[2]), let deadline = UInt64(words[3])
        else {
            context.writeError("prefs: `\(commandName)` is internal to `prefs stress`\n")
            return Outcome.usageErrorCode
        }
        let (file, parent) = (URL(filePath: words[0], directoryHint: .notDirectory), getppid())
        let threads = DispatchGroup()
        for (thread, done) in words[4...].compactMap(Int.init).enumerated() where done < writes {
            threads.enter()
            Thread.detachNewThread {
                let prefs = StressPrefs(process: process, thread: thread, file: file)
                for number in done..<writes {
                    let start = DispatchTime.now().uptimeNanoseconds
                    if deadline > 0, start >= deadline { break }
                    do {
                        try prefs.write(number) {
                            report("\(process) \(thread) \(DispatchTime.now().uptimeNanoseconds - start)")
                        }
                    } catch {
                        report("\(process): \("\(error)".printable)")
                        exit(Outcome.failureCode)
                    }
                    // Ends if the parent process is gone.
                    if getppid() != parent { exit(Outcome.failureCode) }
                }
                threads.leave()
            }
        }
        threads.wait()
        return 0
    }

    /// Writes a line with one system call and without a buffer, so that a kill cannot lose it. A write of this size to
    /// a pipe is atomic.
    private static func report(_ line: String) {
        let bytes = line.utf8.prefix(500) + [UInt8(ascii: "\n")]
        if write(STDOUT_FILENO, Array(bytes), bytes.count) != bytes.count { exit(Outcome.failureCode) }
    }
}
