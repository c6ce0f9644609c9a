package import Foundation

/// A program in a process of its own, from its start to its end. For any thread.
///
/// A thread waits for its end. Foundation's `Process` is told of it on Linux by a socket, which programs inherit that other threads start
/// meanwhile. The program has its standard streams alone, and its signals have their defaults, because a thread of the tests has other
/// settings.
package final class SpawnedProcess: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The standard streams of a program.
    package enum Streams {
        /// Those of this process; nil for the null device.
        case handles(input: FileHandle?, output: FileHandle, errors: FileHandle?)
        /// The path of a terminal, which controls the session of the program.
        case terminal(String)
    }

    private let identifier: pid_t
    private let words: [String]
    private let condition = NSCondition()
    /// What `waitpid` has returned; nil while it runs. Only the holder of the condition uses it.
    nonisolated(unsafe) private var status: Int32?

    /// Starts a program in a process group of its own.
    ///
    /// - Parameter environment: the whole environment.
    package init(
        _ program: URL, _ arguments: [String], environment: [String: String], _ streams: Streams
    ) throws {
        words = [program.lastPathComponent] + arguments
        identifier = try Self.start([program.path(percentEncoded: false)] + arguments, environment, streams)
        Thread.detachNewThread { self.awaitEnd() }
    }

    /// The exit code, or the number of the signal that ended it. Waits for the end.
    package var code: Int32 {
        let status = end
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : status & 0x7F
    }

    /// Whether a signal ended it. Waits for the end.
    package var wasKilled: Bool { end & 0x7F != 0 }

    /// Sends a signal, unless it has ended.
    package func send(_ signal: Int32) {
        condition.withLock { if status == nil { kill(identifier, signal) } }
    }

    /// Waits until it ends. After the limit, kills it and what it has forked, so that no test waits for ever.
    ///
    /// - Parameter limit: on an idle machine; as long as a wait may last if it is nil.
    package func wait(limit: Duration? = nil, _ file: StaticString, _ line: UInt) throws(Failure) {
        let limit = limit.map { $0 * Patience.slowness }
        let latest = Date(timeIntervalSinceNow: (limit ?? .seconds(Patience.seconds)) / .seconds(1))
        let isOverdue = condition.withLock {
            while status == nil { guard condition.wait(until: latest) else { return status == nil } }
            return false
        }
        guard isOverdue else { return }
        let threads = threads
        send(SIGKILL)
        kill(-identifier, SIGKILL)
        _ = end
        let what = "\(words.joined(separator: " ")): did not end"
        let failure = limit.map { "\(what) within \($0) (\(file):\(line))" } ?? Patience.failure(what, file, line)
        throw Failure(description: failure + threads)
    }

    /// Where each of its threads waits in the kernel, and which signals are pending and blocked, one thread a line. Linux only.
    private var threads: String {
        let folder = "/proc/\(identifier)/task"
        func file(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.map { number in
            let status = file("\(folder)/\(number)/status").split(separator: "\n")
            let fields = status.filter { line in
                ["Name", "State", "SigPnd", "ShdPnd", "SigBlk"].contains { line.hasPrefix($0) }
            }
            return "\n  \(fields.joined(separator: " ")) in \(file("\(folder)/\(number)/wchan"))"
                .replacing("\t", with: " ")
        }.joined()
    }

    private var end: Int32 {
        condition.withLock {
            while true {
                if let status { return status }
                condition.wait()
            }
        }
    }

    private func awaitEnd() {
        ExitMonitor.calm()
        // Its number stays its own until `send` knows of the end.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        condition.withLock {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            self.status = status
            condition.broadcast()
        }
    }

    // MARK: - The start

    private static func start(
        _ words: [String], _ environment: [String: String], _ streams: Streams
    ) throws(Failure) -> pid_t {
        var actions = Self.initialized(posix_spawn_file_actions_init)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        switch streams {
        case .handles(let input, let output, let errors):
            for (handle, descriptor) in [(input, Int32(0)), (output, 1), (errors, 2)] {
                if let handle {
                    posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, descriptor)
                } else {
                    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
                }
            }
            flags |= Int32(POSIX_SPAWN_SETPGROUP)
        case .terminal(let path):
            posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
            #if canImport(Darwin)
                flags |= Int32(POSIX_SPAWN_SETSID)
            #else
                // Swift's import of Glibc does not contain POSIX_SPAWN_SETSID.
                flags |= 0x80
            #endif
        }
        #if canImport(Darwin)
            flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
            _ = Self.closeOthers?(&actions, 3)
        #endif
        var attributes = Self.initialized(posix_spawnattr_init)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let program = words[0]
        var words: [UnsafeMutablePointer<CChar>?] = Self.copies(words)
        var variables: [UnsafeMutablePointer<CChar>?] = Self.copies(environment.map { "\($0)=\($1)" })
        defer { for word in words + variables { free(word) } }
        var process: pid_t = 0
        let latest = Patience.deadline
        var code: Int32
        // A program that a test has just written is busy until what another thread starts meanwhile has been executed.
        repeat {
            code = posix_spawn(&process, program, &actions, &attributes, &words, &variables)
        } while code == ETXTBSY && .now < latest
        guard code == 0 else { throw Failure(description: "\(program): \(String(cString: strerror(code)))") }
        return process
    }

    #if !canImport(Darwin)
        /// Swift's import of Glibc leaves it out. Before Glibc 2.34, a program inherits what is not closed on exec.
        private static let closeOthers = dlsym(dlopen(nil, RTLD_NOW), "posix_spawn_file_actions_addclosefrom_np").map {
            unsafeBitCast(
                $0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
        }
    #endif

    /// A value that a C function initializes. Its type is the type of the parameter: a struct on Linux, an optional
    /// pointer on Apple platforms.
    private static func initialized<T>(_ initialize: (UnsafeMutablePointer<T>) -> Int32) -> T {
        let memory = UnsafeMutablePointer<T>.allocate(capacity: 1)
        defer { memory.deallocate() }
        _ = initialize(memory)
        return memory.move()
    }

    /// The caller frees the strings; nil ends the list.
    private static func copies(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
        words.map { strdup($0) as UnsafeMutablePointer<CChar>? } + [nil]
    }
}

/// The thread by which Swift Testing waits for the ends of exit tests.
///
/// From the first exit test on, it asks the system for ended children in a loop, as long as one has not been collected by the thread that
/// waits for it (Swift 6.3). While all processors are busy, that took a tenth of their time.
private enum ExitMonitor {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var isCalm = false

    /// Leaves it the time that nothing else needs, once it is there. Linux only.
    static func calm() {
        #if os(Linux)
            lock.withLock {
                guard !isCalm else { return }
                let folder = "/proc/self/task"
                for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                    let name = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8)
                    guard name == "SWT ExT monitor\n", let number = id_t(thread) else { continue }
                    isCalm = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), number, 19) == 0
                }
            }
        #endif
    }
}
