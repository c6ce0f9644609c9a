import Foundation

/// The terminal on standard input and output: its modes, size, signals, input and output.
///
/// Use one instance at a time, on one thread. Only `wake` may be called from any thread.
final class Terminal: Sendable {
    enum Event: Equatable {
        case bytes([UInt8])
        /// `wake` was called.
        case woken
        case signal(Int32)
        /// Nothing happened within the time limit.
        case timeout
        /// The terminal was closed.
        case closed
    }

    /// The signals that end the program.
    private static let terminationSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let otherSignals = [SIGWINCH, SIGTSTP, SIGCONT]

    private let originalModes: termios

    static var isAvailable: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// True if the terminal can show a form. A terminal without a name may not know the control sequences.
    static var hasScreen: Bool {
        size.isSufficient && !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")
    }

    init() throws {
        var modes = termios()
        guard tcgetattr(STDIN_FILENO, &modes) == 0 else { throw Self.failure() }
        originalModes = modes
        try SignalPipe.open(restoring: modes)
        for number in Self.terminationSignals { SignalPipe.handleEnd(number) }
        for number in Self.otherSignals { SignalPipe.handle(number) }
    }

    /// Turns off line editing and echo, and shows the alternate screen. In the background, the system stops the process
    /// here until it is in the foreground.
    ///
    /// - Returns: false if the program is to end.
    func enter() throws -> Bool {
        var modes = originalModes
        cfmakeraw(&modes)
        // Control-C and Control-Z still send signals to the foreground processes.
        modes.c_lflag |= tcflag_t(ISIG)
        SignalPipe.endsAtOnce = true
        defer { SignalPipe.endsAtOnce = false }
        while true {
            if SignalPipe.isEnding { return false }
            if tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) == 0 { break }
            if errno != EINTR { throw Self.failure() }
        }
        try write(ScreenPainter.enterSequence)
        return true
    }

    /// Restores the terminal.
    func leave() {
        // In the background, the terminal belongs to another process and is already restored.
        guard SignalPipe.isInForeground else { return }
        // If the terminal is closed, there is nothing to restore.
        try? write(ScreenPainter.leaveSequence.description)
        var modes = originalModes
        while tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) != 0, errno == EINTR {}
    }

    /// Restores the terminal and stops the process as Control-Z does, until it is continued.
    ///
    /// - Returns: false if the program is to end.
    func suspend() throws -> Bool {
        SignalPipe.endsAtOnce = true
        guard !SignalPipe.isEnding else { return false }
        leave()
        // Uses the default action: the system does not stop a process that no shell could continue.
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        SignalPipe.handle(SIGTSTP)
        return try enter()
    }

    static var size: EditorScreen.Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return EditorScreen.Size(columns: 80, rows: 24)
        }
        return EditorScreen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Makes the current or the next `wait` return.
    func wake() {
        SignalPipe.send(0)
    }

    /// Waits for the next event.
    ///
    /// - Parameter milliseconds: the time limit; nil for none.
    func wait(milliseconds: Int32?) throws -> Event {
        var sources = [STDIN_FILENO, SignalPipe.output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = poll(&sources, nfds_t(sources.count), milliseconds ?? -1)
        if count < 0, errno != EINTR { throw Self.failure() }
        // After a signal, the pipe has a byte.
        if count < 0 { return try wait(milliseconds: milliseconds) }
        if sources[1].revents != 0, let number = SignalPipe.next() {
            return number == 0 ? .woken : .signal(Int32(number))
        }
        if sources[0].revents != 0 { return Self.read() }
        return .timeout
    }

    private static func read() -> Event {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = Foundation.read(STDIN_FILENO, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return .bytes([]) }
        return count > 0 ? .bytes(Array(bytes.prefix(count))) : .closed
    }

    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw Self.failure() }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static func failure() -> CommandError {
        CommandError("terminal: \(String(cString: strerror(errno)))")
    }
}
