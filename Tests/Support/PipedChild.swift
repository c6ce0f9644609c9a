import Foundation

/// A program of this package that a test controls line by line through pipes, and may kill at any moment.
///
/// For one thread. The program is killed when the object is released, at the latest.
package final class PipedChild {
    private let process: SpawnedProcess
    private let input: PipeEnds
    private let output: PipeEnds
    private var unread = Data()
    private var isAtEnd = false
    /// What the test has told it last, and the last line that it has answered with.
    private var last: (told: String, heard: String) = ("nothing", "nothing")

    /// Starts a product of this package with its own home folder.
    ///
    /// - Parameter mergesErrors: whether its standard error is read as its output, too.
    package init(
        _ product: String, _ arguments: [String], home: TemporaryFolder, mergesErrors: Bool = false
    ) throws {
        (input, output) = (try PipeEnds(), try PipeEnds())
        process = try SpawnedProcess(
            Child.executable(product), arguments, environment: Child.surroundings.merging(["HOME": home.path]) { $1 },
            .handles(
                input: input.reading, output: output.writing, errors: mergesErrors ? output.writing : .standardError))
        try input.reading.close()
        try output.writing.close()
    }

    deinit { kill() }

    /// Writes a line to its input.
    package func tell(_ line: String) throws {
        last.told = "\"\(line)\""
        try input.writing.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Writes a line to its input and waits for the answer.
    package func ask(_ question: String, file: StaticString = #fileID, line: UInt = #line) throws -> String {
        try tell(question)
        return try self.line(file: file, line: line)
    }

    /// Waits for the next line of its output.
    package func line(file: StaticString = #fileID, line: UInt = #line) throws -> String {
        while true {
            if let line = takeLine() { return line }
            if isAtEnd { throw failure("it has ended its output, and no line came (\(file):\(line))") }
            guard fill() else { throw failure(Patience.failure("no line came", file, line)) }
        }
    }

    private func failure(_ what: String) -> SpawnedProcess.Failure {
        let rest = String(decoding: unread, as: UTF8.self)
        return SpawnedProcess.Failure(
            description: "\(what); told last: \(last.told); heard last: \(last.heard); since then: \"\(rest)\"")
    }

    /// The lines that it has written and that were not read yet. Does not wait for more.
    package func linesSoFar() -> [String] {
        while !isAtEnd, fill(within: 0) {}
        var lines: [String] = []
        while let line = takeLine() { lines.append(line) }
        return lines
    }

    /// Waits for output that was not read yet, and returns whether it came. Does not read it.
    package func isWriting(within milliseconds: Int = Patience.seconds * 1_000) -> Bool {
        var awaited = pollfd(fd: output.reading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        var count: Int32
        // Waits again after an interruption.
        repeat { count = poll(&awaited, 1, Int32(milliseconds)) } while count < 0 && errno == EINTR
        return count > 0
    }

    /// Waits until it ends, and returns its exit code or the number of the signal that ended it. Kills it after as long
    /// as a wait may last, and throws an error.
    package func exitCode(file: StaticString = #fileID, line: UInt = #line) throws -> Int32 {
        try process.wait(file, line)
        return process.code
    }

    /// Sends a signal, and does not wait for its effect.
    package func send(_ signal: Int32) { process.send(signal) }

    /// Closes the reading end of its output.
    package func stopReading() throws {
        try output.reading.close()
    }

    /// Kills it and waits for its end: its locks are released then, and its whole output is in the pipe.
    /// - Returns: whether the kill ended it.
    @discardableResult
    package func kill() -> Bool {
        send(SIGKILL)
        // A forked process may wait for the end of the input, and this waits for that process, too.
        try? input.writing.close()
        try? process.wait(#fileID, #line)
        return process.wasKilled && process.code == SIGKILL
    }

    private func takeLine() -> String? {
        guard let end = unread.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { unread = unread[(end + 1)...] }
        let line = String(decoding: unread[..<end], as: UTF8.self)
        last.heard = "\"\(line)\""
        return line
    }

    /// Reads the available output; false if nothing arrived within the given milliseconds.
    private func fill(within milliseconds: Int = Patience.seconds * 1_000) -> Bool {
        guard isWriting(within: milliseconds) else { return false }
        let more = output.reading.availableData
        isAtEnd = more.isEmpty
        unread += more
        return true
    }
}
