import Foundation

/// A worker process. Used by one thread.
final class StressProcess {
    let index: Int
    private let process = Process()
    private let output = Pipe()
    private let ended = DispatchSemaphore(value: 0)
    private var unread = Data()
    /// True after `kill`.
    private(set) var wasKilled = false

    enum Exit: Equatable {
        case killed
        case code(Int32)
        /// It closed its output but keeps running.
        case stillRunning

        var text: String {
            switch self {
            case .killed: "killed by another program"
            case .code(let code): "exit code or signal \(code)"
            case .stillRunning: "no output although it is running"
            }
        }
    }

    init(_ index: Int, _ arguments: [String]) throws {
        self.index = index
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    var descriptor: Int32 { output.fileHandleForReading.fileDescriptor }

    /// Waits for output and returns the new messages; nil at the end of the output.
    func messages() -> [StressWorker.Message]? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { return [] }
        guard count > 0 else { return nil }
        unread += buffer[..<count]
        guard let last = unread.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        defer { unread = Data(unread[(last + 1)...]) }
        return String(decoding: unread[..<last], as: UTF8.self).split(separator: "\n").compactMap(
            StressWorker.Message.init)
    }

    func kill() {
        wasKilled = true
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    }

    /// Waits for the end of the process.
    func waitForExit() -> Exit {
        if process.isRunning, ended.wait(timeout: .now() + .seconds(60)) == .timedOut {
            kill()
            ended.wait()
            return .stillRunning
        }
        try? output.fileHandleForReading.close()
        return process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
            ? .killed : .code(process.terminationStatus)
    }
}
