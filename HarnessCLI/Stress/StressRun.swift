import Foundation
import PrefsTool

/// Starts the workers, counts their writes, and kills and restarts some of them. Used by one thread.
struct StressRun {
    private(set) var tally: StressTally
    let signals = TerminationSignals()
    private let plan: StressPlan
    private let file: URL
    /// The output of all workers.
    private let output = Pipe()
    /// The uptime in nanoseconds of the last output.
    private var lastOutput = Self.uptime
    /// The part of the output after the last complete line.
    private var unread: [UInt8] = []
    /// The processes by index, until their end was noticed.
    private var workers: [Int: Process] = [:]
    /// The indexes of the processes that were killed and not yet restarted.
    private var killed: Set<Int> = []
    /// The average number of acknowledged writes between two kills.
    private let writesBetweenKills: Int
    /// The number of acknowledged writes at which the next process is killed.
    private var nextKill: Int
    /// The uptime in nanoseconds at which the workers stop; 0 if they stop after their writes.
    private var deadline: UInt64 = 0

    init(_ plan: StressPlan, file: URL) {
        (self.plan, self.file, tally) = (plan, file, StressTally(plan))
        // Kills each process about ten times, or once per hundred writes if the number of writes is open.
        writesBetweenKills = plan.seconds == nil ? max(10, plan.total / plan.processes / 10) : 100
        nextKill = Int.random(in: 1...max(1, min(2 * writesBetweenKills, plan.total / 2)))
    }

    /// Runs until all writes are done, a loss is found or a signal arrives, and checks what is stored. All workers have
    /// ended when it returns.
    ///
    /// - Parameter show: called at least a hundred times a second.
    mutating func run(show: (StressTally) -> Void) throws {
        let start = Self.uptime
        if let seconds = plan.seconds { deadline = start + UInt64(seconds) * 1_000_000_000 }
        do {
            defer { stop() }
            for index in 0..<plan.processes { try self.start(index) }
            while !(workers.isEmpty && killed.isEmpty), tally.losses.isEmpty, signals.received == nil {
                try advance()
                show(tally)
            }
        }
        tally.seconds = Double(Self.uptime - start) / 1e9
        try StressLeftovers(file: file).check(&tally)
    }

    /// Counts what the workers print within 10 ms, judges those that have ended, and kills and restarts some.
    private mutating func advance() throws {
        // Reads the last messages of a worker before its end is judged.
        let ended = workers.filter { !$0.value.isRunning }
        readMessages(waiting: 10)
        if Self.uptime - lastOutput > 60_000_000_000 { tally.losses.append("no write finished for a minute") }
        for (index, process) in ended { handleExit(of: index, process) }
        if plan.kills, tally.writes >= nextKill { killRandomWorkers() }
        try restartKilledWorkers()
    }

    private static var uptime: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private mutating func start(_ index: Int) throws {
        let arguments = [file.path(percentEncoded: false), "\(index)", "\(plan.writes)", "\(deadline)"]
        workers[index] = try Process.prefs(
            [StressWorker.commandName] + arguments + tally.done[index].map(String.init),
            output: output.fileHandleForWriting)
    }

    /// Reads all messages in the pipe. Waits if the pipe is empty.
    private mutating func readMessages(waiting milliseconds: Int32) {
        var awaited = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var timeout = milliseconds
        while poll(&awaited, 1, timeout) > 0 {
            let count = read(awaited.fd, &buffer, buffer.count)
            unread += buffer.prefix(max(0, count))
            (timeout, lastOutput) = (0, Self.uptime)
        }
        var lines = unread.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        unread = Array(lines.popLast() ?? [])
        for line in lines { tally.record(String(decoding: line, as: UTF8.self)) }
    }

    private mutating func handleExit(of index: Int, _ process: Process) {
        workers[index] = nil
        let (reason, status) = (process.terminationReason, process.terminationStatus)
        let wasKilled = killed.contains(index) && reason == .uncaughtSignal && status == SIGKILL
        if !wasKilled { killed.remove(index) }
        let isOver = tally.isDone(index) || deadline > 0 && Self.uptime >= deadline
        if reason == .exit, status == 0, isOver { return }
        tally.earlyExits[index] += 1
        if wasKilled {
            tally.kills += 1
        } else if tally.losses.isEmpty {
            // The worker has not reported the reason.
            tally.losses.append("process \(index) ended early: \(reason == .exit ? "exit code" : "signal") \(status)")
        }
    }

    /// Kills one worker, or all at once.
    private mutating func killRandomWorkers() {
        nextKill = tally.writes + Int.random(in: 1...2 * writesBetweenKills)
        let victims = workers.filter { !killed.contains($0.key) && !tally.isDone($0.key) }.shuffled()
        // Delays the kill, so that it hits any moment of a write.
        usleep(UInt32.random(in: 0...2_000))
        for (index, process) in victims.prefix(Bool.random() ? victims.count : 1) {
            killed.insert(index)
            process.kill()
        }
    }

    /// Restarts killed workers, which continue their writes or, if there are none, end at once. If all were killed,
    /// checks the stored state first.
    private mutating func restartKilledWorkers() throws {
        guard !killed.isEmpty, killed.isDisjoint(with: workers.keys) else { return }
        if workers.isEmpty { try StressLeftovers(file: file).check(&tally) }
        for index in killed { try start(index) }
        killed = []
    }

    private mutating func stop() {
        for process in workers.values { process.kill() }
        for (index, process) in workers {
            process.waitUntilExit()
            if process.terminationStatus != 0 { tally.earlyExits[index] += 1 }
        }
        workers = [:]
        readMessages(waiting: 0)
    }
}
