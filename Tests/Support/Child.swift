package import Foundation

/// A program of this package, run in a separate process with its own home folder.
package struct Child {
    /// How a run ended and what it printed.
    package struct Result: Sendable {
        /// The exit code, or the number of the signal that ended it.
        package let code: Int32
        /// Whether a signal ended it.
        package let wasKilled: Bool
        /// The standard output.
        package let output: String
        /// The standard error.
        package let errors: String
    }

    private let process: SpawnedProcess
    private let streams: TemporaryFolder

    /// Starts a product of this package.
    ///
    /// - Parameters:
    ///   - environment: the whole environment, except for `surroundings`.
    package init(_ product: String, _ arguments: [String], environment: [String: String]) throws {
        try self.init(Self.executable(product), arguments, environment: environment)
    }

    /// Starts any program.
    package init(_ program: URL, _ arguments: [String], environment: [String: String]) throws {
        streams = try TemporaryFolder()
        let (output, errors) = (try Self.stream(streams.file("output")), try Self.stream(streams.file("errors")))
        process = try SpawnedProcess(
            program, arguments, environment: environment.merging(Self.surroundings) { given, _ in given },
            .handles(input: nil, output: output, errors: errors))
        // The child has its own descriptors.
        try output.close()
        try errors.close()
    }

    /// Starts a product of this package with the given folder as the home.
    package init(_ product: String, _ arguments: [String], home: TemporaryFolder) throws {
        try self.init(product, arguments, environment: ["HOME": home.path])
    }

    /// Waits for the end. Kills a child that has not ended after the limit, and throws an error.
    package func wait(
        limit: Duration? = nil, file: StaticString = #fileID, line: UInt = #line
    ) throws -> Result {
        try process.wait(limit: limit, file, line)
        return Result(
            code: process.code, wasKilled: process.wasKilled,
            output: try String(contentsOf: streams.file("output"), encoding: .utf8),
            errors: try String(contentsOf: streams.file("errors"), encoding: .utf8))
    }

    /// The environment of every child. Sanitizers report to the tests, and the fault of `Scripts/mutants.sh` is active
    /// in children, too. Backtraces of crashes are off, because the program that writes them outlives the child, and
    /// the test would wait for it.
    package static var surroundings: [String: String] {
        ProcessInfo.processInfo.environment.filter {
            $0.key.hasSuffix("SAN_OPTIONS") || ["PREFS_MUTANT", "PREFS_TEST_PATIENCE"].contains($0.key)
        }
        .merging(["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { $1 }
    }

    /// The path of a program of the system; nil if it is missing.
    package static func installed(
        _ name: String, in path: String = ProcessInfo.processInfo.environment["PATH"] ?? ""
    ) -> String? {
        // Typed: otherwise the compiler splits a path into characters.
        let folders: [String] = path.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/local/bin"]
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The PATH, with the folder first in which `Scripts/tools.sh` installs programs. One of a manager of versions, as of Python, starts
    /// twenty processes before it begins.
    package static let systemFirstPath = "/usr/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "")

    /// The path of a product of this package, beside the test program.
    package static func executable(_ product: String) throws -> URL {
        let folders = [Bundle.main.bundleURL] + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        let candidates = folders.map { $0.appending(path: product, directoryHint: .notDirectory) }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: product])
        }
        return found
    }

    private static func stream(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }
}
