import Foundation
import PersistentPreferences
import PersistentPreferencesEtcd

/// What the store takes of threads and memory, and what it does without.
enum Scarcity {
    /// Updates that fail. Prints their number, and that of the threads of the process.
    static func fail(_ count: Int) throws {
        let store = try store()
        var failures = 0
        for _ in 0..<count {
            do {
                try store.update(root: "A") { $0 = ["count": 1] }
            } catch PrefsError.notStored {
                failures += 1
            }
        }
        let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        say("\(failures) \(threads ?? 1)")
    }

    /// A read that fails. Prints by how many MiB the memory of the process has grown.
    static func memory() throws {
        let store = try store(.current, deadline: .seconds(30))
        let before = largestMemory()
        _ = try? store.read(root: "A")
        say("\((largestMemory() - before) >> 10)")
    }

    private static func largestMemory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }

    /// A followed read while the system has no memory for the stack of a thread, and one after that.
    static func threadless() throws {
        #if os(Linux)
            let current = try store(.current)
            try current.update(root: "A") { $0 = ["count": 1] }
            _ = try current.read(root: "A")
            let followed = try store()
            var limit = rlimit()
            getrlimit(Int32(RLIMIT_AS.rawValue), &limit)
            let former = limit.rlim_cur
            let size = (try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)).prefix { $0.isNumber }
            limit.rlim_cur = rlim_t(size).map { $0 * rlim_t(getpagesize()) + (1 << 20) } ?? former
            setrlimit(Int32(RLIMIT_AS.rawValue), &limit)
            var failure: (any Error)?
            do { _ = try followed.read(root: "A") } catch { failure = error }
            limit.rlim_cur = former
            setrlimit(Int32(RLIMIT_AS.rawValue), &limit)
            say(failure.map { "\($0)" } ?? "no error")
            say("read \(count(in: try followed.read(root: "A")))")
        #endif
    }
}
