import Foundation

/// Starts the workers, counts their writes, and kills and restarts some of them. Used by one thread.
struct StressRun {
    private(set) var tally: StressTally
    private let plan: StressPlan
    private let file: String
    private var workers: [StressProcess] = []
    /// The indexes of the killed processes to restart.
    private var pendingRestarts: [Int] = []
    private var progress: StressProgress
    private let signals = TerminationSignals()
    /// The number of acknowledged writes at which the next process is killed.
    private var nextKill = 0
    /// The uptime at which the workers stop; 0 if they stop after their writes.
    private var deadline: UInt64 = 0

    init(_ plan: StressPlan, file: String, progress: StressProgress) {
        self.plan = plan
        self.file = file
        self.progress = progress
        tally = StressTally(plan)
        nextKill = Int.random(in: 1...max(1, min(2 * plan.writesBetweenKills, plan.total / 2)))
    }

    /// Runs until all writes are done, a loss is found or a signal arrives. All workers have ended when it returns.
    mutating func run() throws {
        defer { stop() }
        if let seconds = plan.seconds {
            deadline = DispatchTime.now().uptimeNanoseconds + UInt64(seconds) * 1_000_000_000
        }
        for index in 0..<plan.processes { try start(index) }
        var idleRounds = 0
        while !workers.isEmpty || !pendingRestarts.isEmpty, tally.losses.isEmpty {
            if signals.received != nil { return }
            idleRounds = readMessages() ? 0 : idleRounds + 1
            if idleRounds == Self.maxIdleRounds { tally.recordLoss("no write finished for a minute") }
            if plan.kills, tally.writes >= nextKill { killRandomWorkers() }
            try restartKilledWorkers()
            progress.show(tally.writes, kills: tally.kills)
        }
    }

    /// The signal that ended the run early.
    var interruption: Int32? { signals.received }

    /// A minute, in rounds of a tenth of a second.
    private static let maxIdleRounds = 600

    private mutating func start(_ index: Int) throws {
        let arguments = StressWorker.arguments(
            file: file, process: index, writes: plan.writes, deadline: deadline, done: tally.done[index])
        workers.append(try StressProcess(index, arguments))
    }

    /// Reads the messages of the workers. Returns false if none arrived within a tenth of a second.
    private mutating func readMessages() -> Bool {
        var awaited = workers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let count = poll(&awaited, nfds_t(awaited.count), 100)
        guard count > 0 else { return count < 0 }
        for (worker, descriptor) in zip(workers, awaited) where descriptor.revents != 0 {
            guard let messages = worker.messages() else {
                handleExit(worker)
                continue
            }
            for message in messages { tally.record(message, from: worker.index) }
        }
        return true
    }

    private mutating func handleExit(_ worker: StressProcess) {
        workers.removeAll { $0 === worker }
        let end = worker.waitForExit()
        if end == .killed, worker.wasKilled {
            tally.recordEarlyExit(of: worker.index, by: true)
            if !tally.isDone(worker.index) { pendingRestarts.append(worker.index) }
        } else if end != .code(0) || !(tally.isDone(worker.index) || isOver) {
            tally.recordEarlyExit(of: worker.index, by: false)
            // The worker may have reported the reason.
            if tally.losses.isEmpty { tally.recordLoss("process \(worker.index) ended early: \(end.text)") }
        }
    }

    private var isOver: Bool { deadline > 0 && DispatchTime.now().uptimeNanoseconds >= deadline }

    /// Restarts killed workers, which continue their writes. If all were killed, checks the stored state first.
    private mutating func restartKilledWorkers() throws {
        guard !pendingRestarts.isEmpty, !workers.contains(where: \.wasKilled) else { return }
        if workers.isEmpty { try StressLeftovers(file: file).check(&tally) }
        for index in pendingRestarts { try start(index) }
        pendingRestarts = []
    }

    /// Kills one worker, or all at once.
    private mutating func killRandomWorkers() {
        nextKill = tally.writes + Int.random(in: 1...2 * plan.writesBetweenKills)
        let victims = workers.filter { !$0.wasKilled && !tally.isDone($0.index) }
        // Delays the kill, so that it hits any moment of a write.
        usleep(UInt32.random(in: 0...2_000))
        for victim in Bool.random() ? victims.shuffled() : Array(victims.shuffled().prefix(1)) { victim.kill() }
    }

    private mutating func stop() {
        progress.end()
        for worker in workers { worker.kill() }
        for worker in workers {
            while let messages = worker.messages() {
                for message in messages { tally.record(message, from: worker.index) }
            }
            if worker.waitForExit() != .code(0) { tally.recordEarlyExit(of: worker.index, by: false) }
        }
        workers = []
    }
}
