import Foundation

/// The workers at work: starts them, counts what they tell, kills some and starts others in their place. For one thread.
struct StressRun {
    private(set) var tally: StressTally
    private(set) var isInterrupted = false
    private let plan: StressPlan
    private let file: String
    private var workers: [StressProcess] = []
    private var progress: StressProgress
    private let interruption = Interruption()
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
        var silence = 0
        while !workers.isEmpty, tally.losses.isEmpty {
            if interruption.hasCome {
                isInterrupted = true
                return
            }
            silence = try listen() ? 0 : silence + 1
            if silence == Self.longestSilence { tally.noteLoss("nobody could write for a minute") }
            if plan.kills, tally.writes >= nextKill { killOne() }
            progress.show(tally.writes, kills: tally.allKills)
        }
    }

    /// In tenths of a second.
    private static let longestSilence = 600

    private mutating func start(_ index: Int) throws {
        let arguments = StressWorker.arguments(
            file: file, process: index, writes: plan.writes, done: tally.done[index])
        workers.append(try StressProcess(index, arguments))
    }

    /// Hears what workers tell; false where none has told anything in a tenth of a second.
    private mutating func listen() throws -> Bool {
        var awaited = workers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let count = poll(&awaited, nfds_t(awaited.count), 100)
        guard count > 0 else { return count < 0 }
        for (worker, descriptor) in zip(workers, awaited) where descriptor.revents != 0 {
            guard let messages = worker.messages() else {
                try bury(worker)
                continue
            }
            for message in messages { tally.take(message, from: worker.index) }
        }
        return true
    }

    /// Another one does what a killed worker has left undone.
    private mutating func bury(_ worker: StressProcess) throws {
        workers.removeAll { $0 === worker }
        let end = worker.end()
        if end == .killed, worker.isDoomed {
            tally.noteKill(of: worker.index)
            if !tally.isDone(worker.index) { try start(worker.index) }
        } else if end != .code(0) || !tally.isDone(worker.index) {
            tally.noteLoss("process \(worker.index) ended before its time (\(end))")
        }
    }

    private mutating func killOne() {
        nextKill = tally.writes + Int.random(in: 1...2 * plan.writesBetweenKills)
        let victims = workers.filter { !$0.isDoomed && !tally.isDone($0.index) }
        // At any moment of a write, and not only when one was told of.
        usleep(UInt32.random(in: 0...2_000))
        victims.randomElement()?.kill()
    }

    private mutating func stop() {
        progress.end()
        for worker in workers { worker.kill() }
        for worker in workers { _ = worker.end() }
        workers = []
    }
}

/// Whether the user, or the system, wants the program to end. It does not end by itself then.
private final class Interruption: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var isNoted = false
    private nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []

    init() {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in self?.note() }
            source.activate()
            return source
        }
    }

    var hasCome: Bool { lock.withLock { isNoted } }

    private func note() {
        lock.withLock { isNoted = true }
    }
}
