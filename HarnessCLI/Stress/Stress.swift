import Foundation
import PrefsTool

/// Writes from many threads and processes at once, and counts lost writes.
enum Stress {
    static let command = CommandSpec(
        "stress", "", "write from many processes at once, and count lost writes",
        details: "Works in a temporary folder, which it removes. Exits with 1 if a write was lost.",
        example: "stress --threads 8 --processes 4 --kill", options: StressPlan.options, run: run)

    private static func run(_ invocation: Invocation) throws -> Outcome {
        let plan = try StressPlan(invocation.options)
        let (context, wantsJSON) = (invocation.context, invocation.wantsJSON)
        let parent = plan.folder.map { URL(filePath: $0, directoryHint: .isDirectory) }
        let folder = (parent ?? FileManager.default.temporaryDirectory).resolvingSymlinksInPath().appending(
            path: "prefs-stress-\(UUID().uuidString)", directoryHint: .isDirectory)
        let path = folder.path(percentEncoded: false)
        guard mkdir(path, 0o700) == 0 else {
            let (place, reason) = (plan.folder ?? "the temporary folder", String(cString: strerror(errno)))
            return .failure("no folder can be made in \(place): \(reason)", asJSON: wantsJSON)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        if !wantsJSON {
            let processes = plan.processes == 1 ? "1 process" : "\(plan.processes) processes"
            let threads = plan.threads == 1 ? "1 thread" : "\(plan.threads) threads"
            let amount = plan.seconds.map { "\($0) s" } ?? (plan.total == 1 ? "1 write" : "\(plan.total) writes")
            context.writeError("prefs: \(processes) of \(threads), \(amount), in \(path.printable)\n")
        }
        var run = StressRun(plan, file: folder.appending(path: "stress.plist", directoryHint: .notDirectory))
        let showsCount = !wantsJSON && isatty(context.errors) == 1
        var lastShown = ContinuousClock.now
        do {
            try run.run { tally in
                guard showsCount, .now - lastShown > .milliseconds(100) else { return }
                lastShown = .now
                context.writeError("\r\(tally.writes) writes, \(tally.kills) kills")
            }
        } catch {
            // Ctrl-C may also end a child process, and so cause an error.
            if run.signals.received == nil { throw error }
        }
        if showsCount { context.writeError("\n") }
        guard let signal = run.signals.received else {
            return try run.tally.outcome(context.outputStyle, asJSON: wantsJSON)
        }
        let message = "interrupted after \(run.tally.writes) writes; the workers were stopped"
        return .failure(message, code: 128 + signal, asJSON: wantsJSON)
    }
}
