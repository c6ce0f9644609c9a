// A daemon whose settings people and other processes change while it runs. It prints a message at once, after each
// change, and at an interval, until it is terminated or interrupted.
//
//     swift run Pulse settings.json
//     swift run prefs set -f settings.json interval=0.5                     # from another terminal
//     swift run prefs set -f settings.json 'message=still here' author=Ann  # two keys, at once

import Dispatch
import Foundation
import PersistentPreferences
import PrefsJSON

final class PulsePrefs: Prefs, @unchecked Sendable {
    @Pref(.in(0.1...86_400), .help("In seconds.")) var interval = 3_600.0
    @Pref var message = "alive"
    @Pref var author = "Pulse"
    @Pref(.help("How often the last run has printed.")) var beats = 0

    /// A process that holds the lock does not keep the daemon from its end.
    override class var writeTimeout: Duration? { .seconds(1) }
}

func say(_ line: String, to output: FileHandle = .standardOutput) {
    try? output.write(contentsOf: Data("\(line)\n".utf8))
}

@main enum Pulse {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            say("usage: Pulse FILE", to: .standardError)
            exit(64)
        }
        let prefs = PulsePrefs(store: .json(url: URL(filePath: CommandLine.arguments[1])))
        // Each fault of the file once, and each rejected write. The program goes on with the last known state.
        let errors = prefs.onError { say("Pulse: \($0)", to: .standardError) }
        let (ends, sources) = arrivals(of: [SIGTERM, SIGINT])

        let beats = await withTaskGroup(of: Int.self) { group in
            group.addTask { await beat(prefs) }
            var arrivals = ends.makeAsyncIterator()
            _ = await arrivals.next()
            group.cancelAll()
            return await group.next() ?? 0
        }
        await prefs.$beats.set(beats)
        errors.cancel()
        for source in sources { source.cancel() }
    }

    /// Prints until its task is cancelled, and returns how often.
    static func beat(_ prefs: PulsePrefs) async -> Int {
        var count = 0
        while !Task.isCancelled {
            // Observes before the read, so that a change in between is not missed.
            let changes = prefs.changes(of: "interval", "message", "author")
            // One state: a message is never printed with the author of another one.
            let (interval, line) = prefs.read { (prefs.interval, "\(prefs.message), says \(prefs.author)") }
            say(line)
            count += 1
            await withTaskGroup { group in
                group.addTask { try? await Task.sleep(for: .seconds(interval)) }
                group.addTask { for await _ in changes { break } }
                // The first of them ends the other one.
                await group.next()
                group.cancelAll()
            }
        }
        return count
    }

    /// The arrivals of signals, from now on, and their sources, which the caller keeps. The signals end the process no
    /// longer.
    static func arrivals(of numbers: [Int32]) -> (AsyncStream<Int32>, [any DispatchSourceSignal]) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
        return (stream, sources)
    }
}
