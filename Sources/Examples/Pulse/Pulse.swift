// A daemon whose settings another process changes while it runs. It prints a message at once and then at an interval,
// until it is terminated or interrupted.
//
//     swift run Pulse settings.plist
//     swift run prefs set -f settings.plist PulsePrefs.interval=0.5    # from another terminal
//     swift run prefs set -f settings.plist 'PulsePrefs.message=still here'

import Dispatch
import Foundation
import PersistentPreferences

final class PulsePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(0.1...86_400)) var interval = 3_600.0
    @Pref var message = "alive"

    /// Logs a stored value that does not fit. The program uses the default.
    override func prefsDidFail(_ error: PrefsError) {
        say("Pulse: \(error)", to: .standardError)
    }
}

func say(_ line: String, to output: FileHandle = .standardOutput) {
    try? output.write(contentsOf: Data("\(line)\n".utf8))
}

/// Prints and reads its settings on one serial queue.
final class Pulse: @unchecked Sendable {
    private let prefs: PulsePrefs
    private let queue = DispatchQueue(label: "pulse")
    private let timer: any DispatchSourceTimer

    init(_ prefs: PulsePrefs) {
        self.prefs = prefs
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { say(prefs.message) }
        timer.activate()
    }

    /// Runs until one of the signals arrives.
    func run(until numbers: [Int32]) {
        let end = DispatchSemaphore(value: 0)
        let signals = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { end.signal() }
            source.activate()
            return source
        }
        // Observes before the first read, so that a change in between is not missed.
        let observation = prefs.onChange(on: queue) { _ in self.start() }
        queue.async(execute: start)
        end.wait()
        observation.cancel()
        for source in signals { source.cancel() }
        timer.cancel()
    }

    private func start() {
        timer.schedule(deadline: .now(), repeating: prefs.interval)
    }
}

guard CommandLine.arguments.count == 2 else {
    say("usage: Pulse FILE", to: .standardError)
    exit(64)
}
let store = PropertyListFileStore(url: URL(filePath: CommandLine.arguments[1]))
Pulse(PulsePrefs(store: store)).run(until: [SIGTERM, SIGINT])
