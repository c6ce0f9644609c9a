import Foundation

extension Process {
    /// Starts this program with other arguments.
    ///
    /// - Parameter output: a `Pipe`, or a `FileHandle` that stays open.
    static func prefs(_ arguments: [String], output: Any) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        return process
    }

    func kill() {
        if isRunning { Foundation.kill(processIdentifier, SIGKILL) }
    }
}
