import Foundation

/// The terminal on standard input and output: its modes, its size, its signals, and the bytes from and to it.
///
/// One at a time, on one thread; only `wake` may be called from any.
final class Terminal: Sendable {
    enum Event: Equatable {
        case bytes([UInt8])
        /// Somebody called `wake`.
        case woken
        case signal(Int32)
        /// Nothing else happened in time.
        case timeout
        /// Nobody is at the other end.
        case closed
    }

    /// What ends the program, if it is not kept from it.
    private static let terminationSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let otherSignals = [SIGWINCH, SIGTSTP, SIGCONT]

    private let originalModes: termios

    /// Whether there is one that can show a form.
    static var isAvailable: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    init() throws {
        var modes = termios()
        guard tcgetattr(STDIN_FILENO, &modes) == 0 else { throw Self.failure() }
        originalModes = modes
        try SignalPipe.open(restoring: modes)
        for number in Self.terminationSignals { SignalPipe.handleEnd(number) }
        for number in Self.otherSignals { SignalPipe.handle(number) }
    }

    /// Keys come one by one and unseen, and the form's screen is shown. In the background the system stops the process here,
    /// until it is in front.
    ///
    /// - Returns: false where the program is to end instead.
    func enter() throws -> Bool {
        var modes = originalModes
        cfmakeraw(&modes)
        // Control-C and Control-Z are signals still, for all processes in front.
        modes.c_lflag |= tcflag_t(ISIG)
        while tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) != 0 {
            if errno != EINTR { throw Self.failure() }
            if SignalPipe.isEnding { return false }
        }
        try write(ScreenPainter.enterSequence)
        return true
    }

    /// The terminal is as it was.
    func leave() {
        // In the background it is another's, and was left before.
        guard SignalPipe.isInForeground else { return }
        // Where it is gone, there is nothing to restore.
        try? write(ScreenPainter.leaveSequence.description)
        var modes = originalModes
        while tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) != 0, errno == EINTR {}
    }

    /// Stops the process as Control-Z does, until it is continued; the terminal is restored meanwhile.
    ///
    /// - Returns: false where the program is to end.
    func suspend() throws -> Bool {
        leave()
        // With the action of the system, which knows whether there is a shell that could continue it.
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        SignalPipe.handle(SIGTSTP)
        return try SignalPipe.isEnding ? false : enter()
    }

    var size: EditorScreen.Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return EditorScreen.Size(columns: 80, rows: 24)
        }
        return EditorScreen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Makes `wait` return, at once or when it is called.
    func wake() {
        SignalPipe.send(0)
    }

    /// The next event.
    /// - Parameter milliseconds: how long it may take; nil for ever.
    func wait(milliseconds: Int32?) throws -> Event {
        var sources = [STDIN_FILENO, SignalPipe.output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = poll(&sources, nfds_t(sources.count), milliseconds ?? -1)
        if count < 0, errno != EINTR { throw Self.failure() }
        // After a signal the pipe has something.
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

    private static func failure() -> UsageError {
        UsageError("terminal: \(String(cString: strerror(errno)))")
    }
}
