import Foundation
import TestSupport

/// The toolchain's own compiler, for sources that should or should not compile with the built modules of this package.
enum Compiler {
    /// The compiler; nil if it is not on the PATH.
    static let program: URL? = {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "").split(separator: ":").map { String($0) + "/swiftc" }
        return ([environment["SWIFT_EXEC"]].compactMap { $0 } + folders)
            .first { $0.hasSuffix("/swiftc") && FileManager.default.isExecutableFile(atPath: $0) }
            .map { URL(filePath: $0, directoryHint: .notDirectory) }
    }()

    /// The folder of the modules, beside the test program; nil if it is missing.
    static let modules: URL? = {
        let folder = try? Child.executable("Probe").deletingLastPathComponent().appending(path: "Modules")
        let module = folder?.appending(path: "PersistentPreferences.swiftmodule")
        return module.flatMap { FileManager.default.fileExists(atPath: $0.path) ? folder : nil }
    }()

    /// The module cache of the build; nil if it is missing. Filling a new cache would take a second.
    static let moduleCache: String? = {
        let cache = modules?.deletingLastPathComponent().appending(path: "ModuleCache").path
        return cache.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }()

    /// The default isolation of the module that a source is compiled in.
    enum Isolation: CaseIterable {
        case none, mainActor
        /// With the features of Xcode's "approachable concurrency" that the Swift 6 language mode does not include.
        case approachable

        var arguments: [String] {
            let features = ["InferIsolatedConformances", "NonisolatedNonsendingByDefault"]
            return switch self {
            case .none: []
            case .mainActor: ["-default-isolation", "MainActor"]
            case .approachable:
                Self.mainActor.arguments + features.flatMap { ["-enable-upcoming-feature", $0] }
            }
        }
    }

    /// Whether to run these tests, which take longer than all others. `Scripts/check.sh` runs them.
    static let canRun =
        ProcessInfo.processInfo.environment["PREFS_COMPILER"] == nil
        ? Hazard.canRun("compiler", if: false, else: "Scripts/check.sh runs these tests")
        : Hazard.canRun(
            "compiler", if: program != nil && modules != nil,
            else: "no swiftc on the PATH, or no module beside the test program")

    /// Type-checks a source.
    ///
    /// - Returns: the errors and warnings of the compiler: `FILE:LINE:COLUMN: error: …`.
    static func complaints(of source: String, _ arguments: [String] = []) throws -> [String] {
        let result = try output(of: source, arguments)
        let lines = result.text.split(separator: "\n").map(String.init)
        let complaints = lines.filter { $0.contains(": error: ") || $0.contains(": warning: ") }
        // The compiler may also fail without an error for a line, or end by a signal.
        return complaints.isEmpty && result.code != 0
            ? ["ended with \(result.code): error: \(result.text)"] : complaints
    }

    /// The errors and warnings in a source by their line, without their place and the name of their group; those without
    /// a line are at 0.
    static func errorsByLine(in source: String, _ arguments: [String] = []) throws -> [Int: [String]] {
        let complaints = try complaints(of: source, arguments)
        return Dictionary(grouping: complaints) { complaint in
            complaint.firstMatch(of: /^[^:]*:([0-9]+):/).flatMap { Int($0.output.1) } ?? 0
        }
        .mapValues { $0.map(message) }
    }

    private static func message(_ complaint: String) -> String {
        let message =
            complaint.split(separator: #/: (?:error|warning): /#, maxSplits: 1).last.map(String.init) ?? complaint
        return message.replacing(/\ *\[#[A-Za-z]+\]$/, with: "")
    }

    /// The whole output of the compiler, with its notes.
    static func output(of source: String, _ arguments: [String] = []) throws -> (text: String, code: Int32) {
        guard let program, let modules else { throw CocoaError(.fileNoSuchFile) }
        let folder = try TemporaryFolder()
        let file = folder.file("source.swift")
        try Data(source.utf8).write(to: file)
        // Starts the frontend, because the driver only starts it and takes as long. On a Mac the driver adds the SDK.
        #if os(Linux)
            let (frontend, arguments) = (["-frontend"], arguments.filter { $0 != "-Xfrontend" })
        #else
            let frontend: [String] = []
        #endif
        let result = try Child(
            program,
            frontend + [
                "-typecheck", "-swift-version", "6", "-module-cache-path",
                moduleCache ?? folder.path, "-I", modules.path, file.path,
            ] + arguments,
            environment: ["HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
        ).wait()
        return (result.errors, result.code)
    }
}
