import Foundation

/// Forwards signals and calls from other threads to the event loop, as bytes in a pipe. There is one per process.
enum SignalPipe {
    /// The state that signal handlers access.
    private struct State {
        var output: Int32 = -1
        var input: Int32 = -1
        /// A pipe with one byte. The first ending signal takes it. A later one finds the pipe empty and exits at once,
        /// also on another thread.
        var first: Int32 = -1
        /// The original modes of the terminal.
        var modes = termios()
        var isEnding = false
        var endsAtOnce = false
    }

    // A pointer, because a handler may interrupt any access. It is initialized before the first handler is installed.
    nonisolated(unsafe) private static let state: UnsafeMutablePointer<State> = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State())
        return state
    }()

    static var output: Int32 { state.pointee.output }

    /// True after a signal that ends the program.
    static var isEnding: Bool { state.pointee.isEnding }

    /// Whether a signal ends the program at once. The system may stop the process soon, and then the event loop would
    /// not read `isEnding`.
    static var endsAtOnce: Bool {
        get { state.pointee.endsAtOnce }
        set { state.pointee.endsAtOnce = newValue }
    }

    /// True if the process may change the terminal: it is in the foreground, or the terminal has no job control.
    static var isInForeground: Bool {
        let front = tcgetpgrp(STDIN_FILENO)
        return front < 0 || front == getpgrp()
    }

    /// - Parameter modes: the modes to restore at the end.
    static func open(restoring modes: termios) throws {
        let (output, input) = try makePipe()
        let (first, firstInput) = try makePipe()
        state.pointee = State(output: output, input: input, first: first, modes: modes)
        send(0, to: firstInput)
    }

    /// Makes a pipe whose ends do not block. A full pipe already wakes the reader, and an empty pipe shows that nothing
    /// came.
    private static func makePipe() throws -> (output: Int32, input: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CommandError("pipe: \(String(cString: strerror(errno)))") }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        return (ends[0], ends[1])
    }

    static func handle(_ number: Int32) {
        setHandler(number) { SignalPipe.receive($0) }
    }

    /// Handles a signal that ends the program. A second signal restores the terminal and exits at once, because the
    /// program may be waiting for a lock.
    static func handleEnd(_ number: Int32) {
        setHandler(number) { number in
            if SignalPipe.takeByte(of: SignalPipe.state.pointee.first) == nil { SignalPipe.exit(128 + number) }
            SignalPipe.state.pointee.isEnding = true
            if SignalPipe.state.pointee.endsAtOnce { SignalPipe.exit(0) }
            SignalPipe.receive(number)
        }
    }

    /// Sets a handler that interrupts blocking system calls, so that the caller can check `isEnding`. Other signals,
    /// which might stop the process, wait until the handler has ended.
    private static func setHandler(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        signal(number, handler)
        var action = sigaction()
        sigaction(number, nil, &action)
        action.sa_flags &= ~Int32(SA_RESTART)
        sigfillset(&action.sa_mask)
        sigaction(number, &action, nil)
    }

    static func send(_ byte: UInt8) {
        send(byte, to: state.pointee.input)
    }

    /// Returns the next byte; nil if the pipe is empty.
    static func next() -> UInt8? {
        takeByte(of: state.pointee.output)
    }

    private static func send(_ byte: UInt8, to input: Int32) {
        var byte = byte
        _ = write(input, &byte, 1)
    }

    private static func takeByte(of output: Int32) -> UInt8? {
        var byte: UInt8 = 0
        return read(output, &byte, 1) == 1 ? byte : nil
    }

    // MARK: - In signal handlers: system calls only, no allocation and no lock

    private static func receive(_ number: Int32) {
        let before = errno
        send(UInt8(truncatingIfNeeded: number))
        errno = before
    }

    private static func exit(_ code: Int32) -> Never {
        if isInForeground {
            let text = ScreenPainter.leaveSequence
            _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount)
            tcsetattr(STDIN_FILENO, TCSANOW, &state.pointee.modes)
        }
        _exit(code)
    }
}
