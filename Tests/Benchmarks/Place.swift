import Foundation
import TestSupport

/// The place of a run's files: a temporary folder with its own home, which is removed afterwards.
struct Place: Sendable {
    private static let variable = "PREFS_BENCHMARKS"
    private let folder: URL

    /// The place of this process. The first process makes a place, runs itself again with it as the home, because a
    /// process reads its home at its start, and does not return.
    static func ofItsOwn() throws -> Place {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment[variable], environment["HOME"] == home(in: path) {
            return Place(folder: URL(filePath: path, directoryHint: .isDirectory))
        }
        let folder = try TemporaryFolder()
        let status = try runAgain(in: folder.path, environment)
        try FileManager.default.removeItem(at: folder.url)
        exit(status)
    }

    /// A file in its own folder, so that rows do not share the state of a folder.
    func file(_ name: String) throws -> URL {
        let own = folder.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return own.appending(path: "\(name).plist", directoryHint: .notDirectory)
    }

    private static func home(in path: String) -> String { path + "/home" }

    private static func runAgain(in path: String, _ environment: [String: String]) throws -> Int32 {
        let home = home(in: path)
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = Array(CommandLine.arguments.dropFirst())
        process.environment = environment.merging([
            variable: path, "HOME": home, "XDG_CONFIG_HOME": home + "/.config", "CFFIXED_USER_HOME": home,
        ]) { $1 }
        try process.run()
        Child.end(process.processIdentifier)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }
}

/// The process that measures. It gets the signals that end this process; then the folder is removed.
private enum Child {
    nonisolated(unsafe) private static var process: pid_t = 0

    static func end(_ process: pid_t) {
        self.process = process
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { kill(Child.process, $0) }
        }
    }
}
