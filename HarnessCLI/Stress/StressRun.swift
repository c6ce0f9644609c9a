import Foundation

/// The workers at work: starts them, counts what they tell, kills some and starts others in their place. For one thread.
struct StressRun {
    private(set) var tally: StressTally
    private let plan: StressPlan
    private let file: String
    private var workers: [StressProcess] = []
    /// Processes that were killed, and have to be started again.
    private var pendingRestarts: [Int] = []
    private var progress: StressProgress
    private let signals = TerminationSignals()
    /// Another process is killed when so many writes were acknowledged.
    private var nextKill = 0

    init(_ plan: StressPlan, file: String, progress: StressProgress) {
        self.plan = plan
        self.file = file
        self.progress = progress
        tally = StressTally(plan)
        nextKill = Int.random(in: 1...max(1, min(2 * plan.writesBetweenKills, plan.total / 2)))
    }

    /// Ends when all is done, something was refused, or the program is interrupted. No worker is left then.
    mutating func run() throws {
        defer { stop() }
        for index in 0..<plan.processes { try start(index) }
        var idleRounds = 0
        while !workers.isEmpty || !pendingRestarts.isEmpty, tally.losses.isEmpty {
            if signals.received != nil { return }
            idleRounds = readMessages() ? 0 : idleRounds + 1
            if idleRounds == Self.maxIdleRounds { tally.recordLoss("nobody could write for a minute") }
            if plan.kills, tally.writes >= nextKill { killRandomWorkers() }
            try restartKilledWorkers()
            progress.show(tally.writes, kills: tally.kills)
        }
    }

    /// The signal that has ended the run before its time.
    var interruption: Int32? { signals.received }

    /// In tenths of a second.
    private static let maxIdleRounds = 600

    private mutating func start(_ index: Int) throws {
        let arguments = StressWorker.arguments(
            file: file, process: index, writes: plan.writes, done: tally.done[index])
        workers.append(try StressProcess(index, arguments))
    }

    /// Hears what workers tell; false where none has told anything in a tenth of a second.
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
        } else if end != .code(0) || !tally.isDone(worker.index) {
            tally.recordEarlyExit(of: worker.index, by: false)
            // It may have told why.
            if tally.losses.isEmpty { tally.recordLoss("process \(worker.index) ended before its time: \(end.text)") }
        }
    }

    /// Others do what killed workers have left undone. Where all were killed, what they leave is looked at first.
    private mutating func restartKilledWorkers() throws {
        guard !pendingRestarts.isEmpty, !workers.contains(where: \.wasKilled) else { return }
        if workers.isEmpty { try StressLeftovers(file: file).check(&tally) }
        for index in pendingRestarts { try start(index) }
        pendingRestarts = []
    }

    /// One worker, or all at once.
    private mutating func killRandomWorkers() {
        nextKill = tally.writes + Int.random(in: 1...2 * plan.writesBetweenKills)
        let victims = workers.filter { !$0.wasKilled && !tally.isDone($0.index) }
        // At any moment of a write, and not only when one was told of.
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
