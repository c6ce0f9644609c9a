// A service: its state, its configuration and its secrets lie where systemd, Docker or Kubernetes put them. It prints a
// line when it is ready and after each change, until it is terminated.
//
//     STATE_DIRECTORY=/tmp/beacon CREDENTIALS_DIRECTORY=/tmp/secrets swift run Beacon

import Dispatch
import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers

final class BeaconPrefs: Prefs, @unchecked Sendable {
    @Pref var message = "hello"
    @Pref(.required) var token: String?
    @Pref(.help("How often the service was started.")) var starts = 0

    override class var store: PrefsStore {
        let variables = ProcessInfo.processInfo.environment
        let state = URL(filePath: variables["STATE_DIRECTORY"] ?? "/var/lib/beacon")
        return .layered(
            .json(url: state.appending(path: "state.json")),
            above: [.folder(URL(filePath: variables["CREDENTIALS_DIRECTORY"] ?? "/run/secrets"))],
            below: [.file(URL(filePath: "/etc/beacon/config.json"))])
    }
}

func say(_ line: String, to output: FileHandle = .standardOutput) {
    try? output.write(contentsOf: Data("\(line)\n".utf8))
}

@main enum Beacon {
    static func main() {
        let prefs = BeaconPrefs()
        // What stands, and later each fault that begins.
        let errors = prefs.onError { say("beacon: \($0)", to: .standardError) }
        prefs.$starts.modify { $0 += 1 }
        let changes = prefs.onChange(of: "message", "token") { _ in report(prefs) }
        // Settings are current without a signal. Whoever sends SIGHUP wants to see that.
        let sources = [SIGHUP, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler {
                if number == SIGTERM { exit(0) }
                for problem in prefs.problems() { say("beacon: \(problem)", to: .standardError) }
                report(prefs)
            }
            source.activate()
            return source
        }
        report(prefs)
        withExtendedLifetime((errors, changes, sources)) { dispatchMain() }
    }

    static func report(_ prefs: BeaconPrefs) {
        // One state: a token is never used with the message of another one.
        let (message, token, starts) = prefs.read { (prefs.message, prefs.token, prefs.starts) }
        say("\(message), \(token == nil ? "without" : "with") a token, start \(starts)")
    }
}
