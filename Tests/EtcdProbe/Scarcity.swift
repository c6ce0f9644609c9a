import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import TestSupport

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

    /// Reads in many threads at once. Prints what has failed, and whether few sockets are open at the end.
    static func threads(_ count: Int) throws {
        let store = try store(.current, deadline: .seconds(60))
        let failures = Locked<[String]>([])
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<count {
            Thread.detachNewThread {
                do { _ = try store.read(root: "A") } catch { failures.withLock { $0.append("\(error)") } }
                ended.signal()
            }
        }
        for _ in 0..<count { ended.wait() }
        let open = sockets(below: 2_000).count
        let connections = open <= 5 ? "few connections" : "\(open) connections"
        say(failures.withLock { $0 + [connections] }.joined(separator: "; "))
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

    /// Updates around the end of every descriptor, as in a daemon. Sockets of the program then have the numbers of the store's sockets.
    /// Prints how many there are, what the store has sent to them, and how many are open at the end.
    static func descriptors() throws {
        let store = try store()
        try store.update(root: "A") { $0 = ["count": 1] }
        _ = try store.read(root: "A")
        // The watch has sent its request: a socket that it has just made would be taken between its check and its use.
        let heard = DispatchSemaphore(value: 0)
        let observation = try store.observe(root: "B") { _ in heard.signal() }
        try store.update(root: "B") { $0 = ["is watched": true] }
        guard heard.wait(timeout: .now() + .seconds(Patience.seconds)) == .success else {
            return say("the watch is silent")
        }
        observation.cancel()
        var pair: [Int32] = [-1, -1]
        // SOCK_STREAM, which is an enumeration on Linux and a number on Apple platforms.
        guard socketpair(AF_UNIX, 1, 0, &pair) == 0 else { return }
        // One of the writes and one of the watch, which a busy machine may connect later.
        var sockets = Self.sockets(below: 256, without: pair)
        let end = Patience.deadline
        while sockets.count < 2, ContinuousClock.now < end {
            _ = try store.read(root: "A")
            sockets = Self.sockets(below: 256, without: pair)
        }
        for number in sockets { dup2(pair[0], number) }
        for count in 2...3 { try store.update(root: "A") { $0 = ["count": count] } }
        _ = fcntl(pair[1], F_SETFL, O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 1_000)
        let count = recv(pair[1], &bytes, bytes.count, 0)
        let open = sockets.count { fcntl($0, F_GETFD) >= 0 }
        say(
            "\(sockets.count > 1) \(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)) \(open == sockets.count)"
        )
    }

    /// The descriptors that are open sockets.
    private static func sockets(below limit: Int32, without others: [Int32] = []) -> [Int32] {
        (3..<limit).filter { number in
            var status = stat()
            return !others.contains(number) && fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    }
}
