package import Foundation

/// A program in a terminal. A test types keys and reads the output. For one thread.
///
/// The program and its children get SIGHUP when the object is released, at the latest.
package final class PseudoTerminal {
    /// The expected event did not happen in time, or cannot happen any more.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// All bytes that it has written so far; the system puts a carriage return before each line feed.
    package private(set) var output: [UInt8] = []

    private let descriptor: Int32
    private let process: pid_t
    private var isEnded = false

    /// Starts a program in a terminal of that size.
    ///
    /// - Parameter environment: the whole environment, except for TERM and the surroundings of every child.
    package init(
        _ program: URL, _ arguments: [String], environment: [String: String], columns: Int, rows: Int
    ) throws {
        let path: String
        (descriptor, path) = try Self.open()
        Self.setSize(descriptor, columns, rows)
        let environment = Child.surroundings.merging(["TERM": "xterm"]) { $1 }.merging(environment) { $1 }
        process = try Self.start([program.path(percentEncoded: false)] + arguments, environment, terminal: path)
    }

    deinit {
        close(descriptor)
        if !isEnded {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
    }

    /// Presses keys, as the bytes that a terminal sends for them.
    package func type(_ keys: String) throws {
        let bytes = Array(keys.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw failure("the terminal accepts no keys")
        }
    }

    package func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Reads until the program has written that text. Fails after as long as a wait may last.
    package func wait(forText text: String, file: StaticString = #fileID, line: UInt = #line) throws {
        let deadline = Patience.deadline
        while !String(decoding: output, as: UTF8.self).contains(text) {
            guard try readMore(until: deadline, file, line) else { throw failure("\(text): the program ended before") }
        }
    }

    /// Waits until all processes that had the terminal have ended.
    /// - Returns: the exit code of the program, or the negative number of the signal that ended it.
    package func exitCode(file: StaticString = #fileID, line: UInt = #line) throws -> Int32 {
        let deadline = Patience.deadline
        while try readMore(until: deadline, file, line) {}
        var status: Int32 = 0
        waitpid(process, &status, 0)
        isEnded = true
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// - Returns: false if no process has the terminal open any more.
    private func readMore(
        until deadline: ContinuousClock.Instant, _ file: StaticString, _ line: UInt
    ) throws -> Bool {
        var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let rest = (deadline - .now).components.seconds
        guard rest >= 0, poll(&awaited, 1, Int32(rest + 1) * 1_000) != 0 else {
            throw failure(Patience.failure("nothing came", file, line))
        }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EINTR { return true }
        guard count > 0 else { return false }
        output += bytes.prefix(count)
        return true
    }

    private func failure(_ what: String) -> Failure {
        Failure(description: "\(what); the output:\n" + String(decoding: output, as: UTF8.self))
    }

    /// Opens the two ends of a terminal. Declares the functions by name, because Swift's import of Glibc leaves them
    /// out.
    private static func open() throws -> (Int32, String) {
        func function<F>(_ name: String, _ type: F.Type) throws -> F {
            guard let found = dlsym(dlopen(nil, RTLD_NOW), name) else { throw Failure(description: "no \(name)") }
            return unsafeBitCast(found, to: type)
        }
        typealias OnDescriptor = @convention(c) (Int32) -> Int32
        typealias Name = @convention(c) (Int32, UnsafeMutablePointer<CChar>, Int) -> Int32
        let descriptor = try function("posix_openpt", OnDescriptor.self)(O_RDWR | O_NOCTTY | O_CLOEXEC)
        var name = [CChar](repeating: 0, count: 128)
        guard descriptor >= 0, try function("grantpt", OnDescriptor.self)(descriptor) == 0,
            try function("unlockpt", OnDescriptor.self)(descriptor) == 0,
            try function("ptsname_r", Name.self)(descriptor, &name, name.count) == 0
        else { throw Failure(description: "no pseudo-terminal: \(String(cString: strerror(errno)))") }
        return (descriptor, String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    private static func setSize(_ descriptor: Int32, _ columns: Int, _ rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }

    /// Starts it in a new session, whose first terminal controls it. Signals are reset to their defaults, because a
    /// thread of the tests has other settings.
    private static func start(
        _ words: [String], _ environment: [String: String], terminal path: String
    ) throws -> pid_t {
        var actions = Self.initialized(posix_spawn_file_actions_init)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = Self.initialized(posix_spawnattr_init)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        #if canImport(Darwin)
            let newSession = Int32(POSIX_SPAWN_SETSID)
        #else
            // Swift's import of Glibc does not contain POSIX_SPAWN_SETSID.
            let newSession: Int32 = 0x80
        #endif
        let flags = newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let program = words[0]
        var words: [UnsafeMutablePointer<CChar>?] = Self.copies(words)
        var variables: [UnsafeMutablePointer<CChar>?] = Self.copies(environment.map { "\($0)=\($1)" })
        defer { for word in words + variables { free(word) } }
        var process: pid_t = 0
        let code = Process.alone { posix_spawn(&process, program, &actions, &attributes, &words, &variables) }
        guard code == 0 else { throw Failure(description: "posix_spawn: \(String(cString: strerror(code)))") }
        return process
    }

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
