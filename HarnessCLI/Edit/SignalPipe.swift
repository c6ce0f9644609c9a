import Foundation

/// Brings signals, and calls from other threads, to where a program waits: as bytes in a pipe. Once in a process.
enum SignalPipe {
    /// What handlers of signals go by.
    private struct State {
        var output: Int32 = -1
        var input: Int32 = -1
        /// Of the terminal, as it was.
        var modes = termios()
        var isEnding = false
    }

    // Behind a pointer, since a handler may come in the middle of any access. It is there before the first handler is.
    nonisolated(unsafe) private static let state: UnsafeMutablePointer<State> = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State())
        return state
    }()

    static var output: Int32 { state.pointee.output }

    /// Whether a signal has come that ends the program.
    static var isEnding: Bool { state.pointee.isEnding }

    /// Whether the terminal is ours to change; true where nobody is told apart by it.
    static var isInForeground: Bool {
        let front = tcgetpgrp(STDIN_FILENO)
        return front < 0 || front == getpgrp()
    }

    /// - Parameter modes: those that the terminal is to have in the end.
    static func open(restoring modes: termios) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw UsageError("pipe: \(String(cString: strerror(errno)))") }
        for end in ends {
            // A full pipe wakes as well as a byte more.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        state.pointee = State(output: ends[0], input: ends[1], modes: modes)
    }

    static func handle(_ number: Int32) {
        signal(number) { SignalPipe.receive($0) }
        interruptCalls(number)
    }

    /// The same for a signal that ends the program. Where one has come before and the program is still there (it may wait for
    /// a lock that somebody does not give back), the next restores the terminal and ends it on the spot.
    static func handleEnd(_ number: Int32) {
        signal(number) { number in
            if SignalPipe.state.pointee.isEnding { SignalPipe.exit(128 + number) }
            SignalPipe.state.pointee.isEnding = true
            SignalPipe.receive(number)
        }
        interruptCalls(number)
    }

    /// What waits in a system call, for the terminal in the background say, has a look at `isEnding` after the signal.
    private static func interruptCalls(_ number: Int32) {
        var action = sigaction()
        sigaction(number, nil, &action)
        action.sa_flags &= ~Int32(SA_RESTART)
        sigaction(number, &action, nil)
    }

    static func send(_ byte: UInt8) {
        var byte = byte
        _ = write(state.pointee.input, &byte, 1)
    }

    /// Nil where there is nothing.
    static func next() -> UInt8? {
        var byte: UInt8 = 0
        return read(state.pointee.output, &byte, 1) == 1 ? byte : nil
    }

    // MARK: - In handlers: system calls, and nothing that allocates or locks

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
