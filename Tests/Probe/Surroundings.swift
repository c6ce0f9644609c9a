import Foundation
import PersistentPreferences
import PrefsKeys
import TestSupport

/// A program in hostile surroundings, which it creates itself. Each argument is a step, and its answer is a line.
enum Surroundings {
    nonisolated(unsafe) private static var prefs: ProbePrefs?
    nonisolated(unsafe) private static var observation: PrefsObservation?
    nonisolated(unsafe) private static var errors: PrefsObservation?
    private static let heard = Locked(0)
    private static let failures = Locked(0)

    private struct rejected: PrefKey { static let defaultValue = 0 }
    private struct other: PrefKey { static let defaultValue = 0 }

    static func run(_ steps: some Sequence<String>) {
        // The threads of the tests that start processes block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        for step in steps {
            let words = step.split(separator: " ", maxSplits: 1).map(String.init)
            say("\(words[0]): \(answer(words[0], words.dropFirst().first ?? ""))")
        }
    }

    private static func answer(_ command: String, _ rest: String) -> String {
        let numbers = rest.split(separator: " ").compactMap { Int($0) }
        switch command {
        case "open":
            prefs = ProbePrefs(file: rest)
        case "suite":
            prefs = ProbePrefs(store: .userDefaults(suite: rest))
        case "set":
            prefs?["count"] = numbers[0]
        case "get":
            let count = prefs?["count"] as? Int
            return "\(count.map { "\($0)" } ?? "nil") \(outcome)"
        case "key":
            // A key of a UserDefaults object: the number to store, or none to read it.
            guard let suite = UserDefaults(suiteName: "probe.rejected") else { return "no suite" }
            guard let number = numbers.first else { return "\(rejected.get(suite))" }
            return rejected.set(number, suite).map { "\($0)" } ?? "ok"
        case "other-key":
            guard let suite = UserDefaults(suiteName: "probe.rejected") else { return "no suite" }
            return other.set(numbers[0], suite).map { "\($0)" } ?? "ok"
        case "write":
            prefs?["text"] = rest
        case "read":
            return "\(prefs?["text"] ?? "nil") \(outcome)"
        case "edit":
            // Edits the file in place, without a new size, during an update of this process.
            prefs?.update {
                $0["count"] = 7
                _ = system("LC_ALL=C sed s/first/other/ \(rest) > \(rest).new && cat \(rest).new > \(rest)")
            }
        case "text":
            prefs?["text"] = String(repeating: "x", count: numbers[0])
        case "length":
            return "\((prefs?["text"] as? String)?.count ?? 0) \(outcome)"
        case "identity":
            return becomeUser(numbers[0]) ? "ok" : "refused"
        case "umask":
            umask(mode_t(rest, radix: 8) ?? 0)
            return "ok"
        case "descriptors":
            if rest == "taken" { Scarcity.leave(0) } else { Scarcity.release() }
            return "ok"
        case "leave":
            Scarcity.leave(numbers[0])
            return "ok"
        case "queues":
            if rest == "taken" { Scarcity.takeQueues() } else { Scarcity.release() }
            return "ok"
        case "watched":
            // Looks at /proc, which takes a descriptor.
            return Patience.until { !Watching.queues().isEmpty } ? "ok" : "no queue"
        case "forbid":
            return Scarcity.forbid(rest) ? "ok" : "refused"
        case "observe":
            observation = prefs?.onChange { change in heard.withLock { $0 += change.count } }
        case "cancel-at-error":
            errors = prefs?.onError { error in
                // It stands already.
                if case .notWatched = error { return }
                failures.withLock { $0 += 1 }
                observation?.cancel()
            }
        case "errors":
            return "\(failures.withLock { $0 })"
        case "problems":
            return "\(prefs?.problems().count ?? 0)"
        case "root":
            prefs?.key = rest
        case "damage":
            return (try? Data("damaged".utf8).write(to: URL(filePath: rest))) == nil ? "failed" : "ok"
        case "hear":
            _ = Patience.until { heard.withLock { $0 } >= numbers[0] }
            return "\(heard.withLock { $0 })"
        case "heard":
            return "\(heard.withLock { $0 })"
        case "threads":
            return setLimit(of: processes, to: 1) ? "ok" : "refused"
        case "size":
            return setLimit(of: fileSize, to: numbers[0]) ? "ok" : "refused"
        case "names":
            let names = try? FileManager.default.contentsOfDirectory(atPath: rest).sorted()
            return (names ?? ["unreadable"]).joined(separator: " ")
        case "terminal":
            // `/dev/tty` opens only if the process has a controlling terminal.
            let descriptor = Foundation.open("/dev/tty", O_RDONLY | O_NOCTTY)
            if descriptor >= 0 { close(descriptor) }
            return descriptor >= 0 ? "has one" : "none"
        case "shell":
            return system(rest) == 0 ? "ok" : "failed"
        default:
            return "no such step"
        }
        return outcome
    }

    private static var outcome: String { prefs?.outcome ?? "ok" }

    private static func becomeUser(_ number: Int) -> Bool {
        let user = uid_t(number)
        return setgroups(0, nil) == 0 && setgid(user) == 0 && setuid(user) == 0
    }

    #if canImport(Glibc)
        private static let fileSize = Int32(RLIMIT_FSIZE.rawValue)
        private static let processes = Int32(__RLIMIT_NPROC.rawValue)
    #else
        private static let fileSize = RLIMIT_FSIZE
        private static let processes = RLIMIT_NPROC
    #endif

    private static func setLimit(of resource: Int32, to count: Int) -> Bool {
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = rlim_t(count)
        return setrlimit(resource, &limit) == 0
    }
}
