import Dispatch
import Foundation
import Observation
import PersistentPreferences

/// Observes the default store and prints each change as a line. Makes no reads. Accepts the commands `observe`,
/// `track`, `cancel` and `count`, and answers each with the number of open inotify queues.
enum Watching {
    nonisolated(unsafe) private static var observation: PrefsObservation?

    static func serve() -> Never {
        let prefs = ProbePrefs()
        Thread.detachNewThread {
            while let line = readLine() {
                switch line {
                case "observe":
                    observation = prefs.onChange { say("change \($0.newValues["count"] ?? "nil") \($0.origin)") }
                case "track": track(prefs)
                case "cancel": observation = nil
                case "count": break
                default: fatalError("no command \(line)")
                }
                say("\(queues()) queues")
            }
            exit(0)
        }
        dispatchMain()
    }

    private static func track(_ prefs: ProbePrefs) {
        let queue = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: queue, value: true)
        withObservationTracking {
            _ = prefs["count"]
        } onChange: {
            let place = DispatchQueue.getSpecific(key: queue) == true ? "on the main queue" : "elsewhere"
            say("tracked \(prefs.storedCount) \(place)")
        }
    }

    private static func queues() -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == "anon_inode:inotify"
        }
    }

    private static func say(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    }
}
