package import Foundation

/// A program in a terminal. A test types keys and reads the output. For one thread.
///
/// The program and its children get SIGHUP when the object is released, at the latest.
package final class PseudoTerminal {
    private typealias Failure = SpawnedProcess.Failure

    /// All bytes that it has written so far; the system puts a carriage return before each line feed.
    package private(set) var output: [UInt8] = []

    private let descriptor: Int32
    private let process: SpawnedProcess

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
        process = try SpawnedProcess(program, arguments, environment: environment, .terminal(path))
    }

    deinit {
        close(descriptor)
        process.send(SIGKILL)
    }

    /// Presses keys, as the bytes that a terminal sends for them.
    package func type(_ keys: String) throws {
        let bytes = Array(keys.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw failure("the terminal accepts no keys")
        }
    }

    package func send(_ signal: Int32) { process.send(signal) }

    /// Reads until the program has written that text. Fails after as long as a wait may last.
    package func wait(forText text: String, file: StaticString = #fileID, line: UInt = #line) throws {
        let deadline = Patience.deadline
        while !String(decoding: output, as: UTF8.self).contains(text) {
            guard try readMore("\"\(text)\"", until: deadline, file, line) else {
                throw failure("expected \"\(text)\", and the program ended before")
            }
        }
    }

    /// Waits until all processes that had the terminal have ended.
    /// - Returns: the exit code of the program, or the negative number of the signal that ended it.
    package func exitCode(file: StaticString = #fileID, line: UInt = #line) throws -> Int32 {
        let deadline = Patience.deadline
        while try readMore("the end of the program", until: deadline, file, line) {}
        try process.wait(file, line)
        return process.wasKilled ? -process.code : process.code
    }

    /// - Returns: false if no process has the terminal open any more.
    private func readMore(
        _ awaited: String, until deadline: ContinuousClock.Instant, _ file: StaticString, _ line: UInt
    ) throws -> Bool {
        var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let rest = (deadline - .now).components.seconds
        guard rest >= 0, poll(&awaited, 1, Int32(rest + 1) * 1_000) != 0 else {
            throw failure(Patience.failure("expected \(awaited), and nothing more came", file, line))
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
}
