import Foundation
import TestSupport

/// The toolchain's own compiler, for sources that are to compile, or not to, on the modules of this package as they were built.
enum Compiler {
    /// nil where there is none on the PATH.
    static let program: URL? = {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "").split(separator: ":").map { String($0) + "/swiftc" }
        return ([environment["SWIFT_EXEC"]].compactMap { $0 } + folders)
            .first { $0.hasSuffix("/swiftc") && FileManager.default.isExecutableFile(atPath: $0) }
            .map { URL(filePath: $0, directoryHint: .notDirectory) }
    }()

    /// Beside the test program; nil where the modules of this package are not there.
    static let modules: URL? = {
        let folder = try? Child.executable("Probe").deletingLastPathComponent().appending(path: "Modules")
        let module = folder?.appending(path: "PersistentPreferences.swiftmodule")
        return module.flatMap { FileManager.default.fileExists(atPath: $0.path) ? folder : nil }
    }()

    /// That of the build, which has in it what a new one would take a second for; nil if there is none.
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

    /// `Scripts/check.sh` asks for these tests, which take longer than all others.
    static let canRun =
        ProcessInfo.processInfo.environment["PREFS_COMPILER"] == nil
        ? Hazard.canRun("compiler", if: false, else: "Scripts/check.sh runs these tests")
        : Hazard.canRun(
            "compiler", if: program != nil && modules != nil,
            else: "no swiftc on the PATH, or no module beside the test program")

    /// Type-checks a source.
    ///
    /// - Returns: the lines of what the compiler says that are an error, or a warning: `FILE:LINE:COLUMN: error: …`.
    static func complaints(of source: String, _ arguments: [String] = []) throws -> [String] {
        let result = try output(of: source, arguments)
        let lines = result.text.split(separator: "\n").map(String.init)
        let complaints = lines.filter { $0.contains(": error: ") || $0.contains(": warning: ") }
        // It may also end without a word about a line, or by a signal.
        return complaints.isEmpty && result.code != 0
            ? ["ended with \(result.code): error: \(result.text)"] : complaints
    }

    /// All that the compiler prints, with its notes.
    static func output(of source: String, _ arguments: [String] = []) throws -> (text: String, code: Int32) {
        guard let program, let modules else { throw CocoaError(.fileNoSuchFile) }
        let folder = try TemporaryFolder()
        let file = folder.file("source.swift")
        try Data(source.utf8).write(to: file)
        // The driver does nothing but start the frontend, and takes as long; on a Mac it adds the SDK.
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
