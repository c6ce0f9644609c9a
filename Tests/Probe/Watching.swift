import Foundation
import Observation
import PersistentPreferences

/// Observes the default store and prints each change as a line. Makes no other reads. Accepts the commands `observe`,
/// `track`, `cancel`, `count`, `cycle`, `read`, `leave N` (descriptors) and `release`, and answers each with the number
/// of open inotify queues and whether they watch something.
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
                case "read": _ = prefs.storedCount
                case "release": Scarcity.release()
                case _ where line.hasPrefix("leave "): Scarcity.leave(Int(line.dropFirst(6)) ?? 0)
                case "cycle": cycle(prefs)
                default: fatalError("no command \(line)")
                }
                let queues = queues()
                say("\(queues.count) queues, \(queues.contains(where: isWatching) ? "watching" : "idle")")
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

    /// Observes and cancels 2,000 times, and prints how often that failed and whether threads were left.
    private static func cycle(_ prefs: ProbePrefs) {
        let threads = entries("/proc/self/task").count
        let failures = (0..<2_000).count { _ in
            let observation = prefs.onChange { _ in }
            defer { observation.cancel() }
            return prefs.lastError != nil
        }
        let left = entries("/proc/self/task").count - threads
        say("\(failures) failures, \(left < 16 ? "few" : "\(left)") threads")
    }

    /// The numbers of the descriptors of inotify queues.
    static func queues() -> [String] {
        entries("/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == "anon_inode:inotify"
        }
    }

    private static func isWatching(_ queue: String) -> Bool {
        let lines = FileManager.default.contents(atPath: "/proc/self/fdinfo/\(queue)") ?? Data()
        return String(decoding: lines, as: UTF8.self).contains("inotify wd:")
    }

    private static func entries(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
