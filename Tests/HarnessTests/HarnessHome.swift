import Foundation
import TestSupport
import Testing

/// A temporary home folder, and `prefs` that runs in it: in this process, or as a process.
struct HarnessHome {
    static let suite = "persistentpreferences.harness"

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The file of the default suite.
    var suiteFile: URL { domainFile(Self.suite) }

    func domainFile(_ suite: String) -> URL {
        folder.url.appending(path: ".config/\(suite).plist", directoryHint: .notDirectory)
    }

    func path(_ name: String) -> String {
        folder.file(name).path(percentEncoded: false)
    }

    @discardableResult
    func prefs(_ arguments: String...) throws -> Printed {
        try prefs(arguments)
    }

    /// Runs a command in this process. Its standard input is empty.
    ///
    /// `HarnessCommandTableTests` compares the result with the result of a process, for each command. On other
    /// platforms, UserDefaults takes no folder, so each command is a process.
    ///
    /// - Parameter variables: the environment, besides HOME.
    @discardableResult
    func prefs(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Printed {
        #if os(Linux)
            if Self.needsNoProcess(arguments) {
                return try CommandRun(environment: variables.merging(["HOME": folder.path]) { $1 }).run(arguments)
            }
        #endif
        return try process(arguments, variables)
    }

    /// These commands take hold of a terminal, of signals or of other processes.
    static func needsNoProcess(_ arguments: [String]) -> Bool {
        !["edit", "watch", "stress", "stress-worker"].contains { arguments.contains($0) }
    }

    /// Runs a command as a process.
    @discardableResult
    func process(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Printed {
        Printed(try Child("prefs", arguments, environment: variables.merging(["HOME": folder.path]) { $1 }).wait())
    }

    /// Stores a value for each key of the test set.
    func storeSampleValues() throws {
        let printed = try prefs(
            "set", "int=10", "string=Sample String", "array=One,Two,Three,Four,Five",
            #"dictionary={"One":"First","Two":"Second","Three":"Third"}"#, "date=2001-01-01T00:00:00Z")
        guard printed == Printed() else { throw CocoaError(.fileWriteUnknown) }
    }

    @discardableResult
    func run(_ product: String, _ arguments: [String]) throws -> Printed {
        Printed(try Child(product, arguments, home: folder).wait())
    }

    /// The report of `prefs doctor --json`; nil stands for the domain of `prefs`.
    func doctor(_ place: String? = nil) throws -> DoctorReport {
        let printed = try prefs(["doctor", "--json"] + (place.map { ["-f", $0] } ?? []))
        return DoctorReport(members: try printed.object(), code: printed.code)
    }

    /// Starts a command on a terminal.
    func terminal(
        _ arguments: [String], _ variables: [String: String] = [:], columns: Int = 200
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            Child.executable("prefs"), arguments, environment: variables.merging(["HOME": folder.path]) { $1 },
            columns: columns, rows: 50)
    }

    /// Runs a command on a terminal. Returns its output, with colours, and its exit code.
    func shown(
        _ arguments: [String], _ variables: [String: String] = [:], columns: Int = 200
    ) throws -> (text: String, code: Int32) {
        let terminal = try terminal(arguments, variables, columns: columns)
        let code = try terminal.exitCode()
        return (terminal.text, code)
    }

    /// Runs a script in the home folder, with `prefs` on the path; `$0` is its path.
    func bash(_ script: String, _ variables: [String: String] = [:]) throws -> Printed {
        let tool = try Child.executable("prefs")
        let own = ["HOME": folder.path, "PATH": "\(tool.deletingLastPathComponent().path):/usr/bin:/bin"]
        let words = ["-c", "cd \"$HOME\" && { \(script)\n}", tool.path]
        return Printed(try Child(URL(filePath: "/bin/bash"), words, environment: own.merging(variables) { $1 }).wait())
    }

    /// Writes a property list as another program would. Its time is an hour ago, so that the write counts as finished.
    @discardableResult
    func write(
        _ content: Any, to name: String, format: PropertyListSerialization.PropertyListFormat = .binary
    ) throws -> URL {
        try write(PropertyListSerialization.data(fromPropertyList: content, format: format, options: 0), to: name)
    }

    /// Writes the file of a suite as another program would. Returns the bytes.
    func writeSuite(
        _ suite: String = Self.suite, _ content: [String: Any] = ["PrefsTestSet": ["Integer Value": 7]]
    ) throws -> Data {
        try FileManager.default.createDirectory(at: folder.file(".config"), withIntermediateDirectories: false)
        return try Data(contentsOf: write(content, to: ".config/\(suite).plist"))
    }

    /// Makes the lock file and the last good copy of a preferences file that a program of this package has written, so
    /// that commands keep them. Makes the file, too, if it is missing. The next write replaces the copy, which is empty.
    func claim(_ name: String) throws {
        let path = folder.file(name)
        if !FileManager.default.fileExists(atPath: path.path(percentEncoded: false)) {
            let empty = try PropertyListSerialization.data(fromPropertyList: [:], format: .binary, options: 0)
            try write(path.pathExtension == "json" ? Data("{}\n".utf8) : empty, to: name)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: path.path(percentEncoded: false))
        }
        for ending in ["lock", "lastgood"] {
            let file = path.deletingLastPathComponent().appending(path: ".\(path.lastPathComponent).\(ending)")
            try Data().write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
    }

    /// Locks the lock file of a file that `claim(_:)` has prepared.
    func lock(_ name: String) throws -> HeldLock { try HeldLock(path(".\(name).lock")) }

    /// The paths of everything in the home, relative to it.
    var paths: [String] { FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? [] }

    /// All names in the home, with their inode, permissions, modification time, size and contents. A sparse file is too
    /// large to be read.
    func state() throws -> [String: String] {
        var state: [String: String] = [:]
        for path in paths {
            let facts = try FileManager.default.attributesOfItem(atPath: self.path(path))
            let isFile = facts[.type] as? FileAttributeType == .typeRegular && facts[.size] as? Int ?? 0 < 1 << 30
            let bytes = isFile ? try Data(contentsOf: folder.file(path)).base64EncodedString() : ""
            let keys: [FileAttributeKey] = [.systemFileNumber, .posixPermissions, .modificationDate, .size]
            state[path] = "\(keys.map { "\(facts[$0] ?? "")" }) \(bytes)"
        }
        return state
    }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.file(name)) }

    func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    @discardableResult
    func write(_ text: String, to name: String) throws -> URL { try write(Data(text.utf8), to: name) }

    @discardableResult
    func write(_ bytes: Data, to name: String) throws -> URL {
        let url = folder.file(name)
        try bytes.write(to: url)
        try url.setModified(secondsFromNow: -3_600)
        return url
    }
}

extension PseudoTerminal {
    /// The output, with the line endings of a pipe.
    var text: String { String(decoding: output, as: UTF8.self).replacing("\r\n", with: "\n") }
}

/// The output and the exit code of a run.
struct Printed: Equatable {
    var output = ""
    var errors = ""
    var code: Int32 = 0
    var wasKilled = false

    init(_ output: String = "", errors: String = "", code: Int32 = 0) {
        self.output = output
        self.errors = errors
        self.code = code
    }

    init(_ result: Child.Result) {
        (output, errors, code) = (result.output, result.errors, result.code)
        wasKilled = result.wasKilled
    }

    /// The object that was printed as JSON.
    func object() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }

    static func failure(_ message: String) -> Printed {
        Printed(errors: "prefs: \(message)\n", code: 1)
    }

    static func usageError(_ message: String) -> Printed {
        Printed(errors: "prefs: \(message)\n", code: 64)
    }
}

/// A lock file that the test holds.
final class HeldLock {
    /// Whether the system names the processes that hold or await a lock.
    static let isTold = Hazard.canRun(
        "names of lock holders", if: access("/proc/locks", R_OK) == 0, else: "nothing tells who holds a lock")

    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    }

    deinit { close(descriptor) }

    func release() { flock(descriptor, LOCK_UN) }
}

/// The report of `prefs doctor --json`.
struct DoctorReport {
    let members: [String: Any]
    let code: Int32

    var findings: [[String: Any]] { members["findings"] as? [[String: Any]] ?? [] }
    var lock: [String: Any]? { members["lock"] as? [String: Any] }
    var commands: [String] { findings.compactMap { $0["command"] as? String } }
}
