import Foundation
import PersistentPreferences

/// Prints each change of the preferences until a signal ends the program or its output is closed.
final class Watch: Sendable {
    private let prefs: PersistentPrefs
    private let program: String
    private let keys: [String]
    private let asJSON: Bool
    private let target: String
    private let file: String?

    /// Used for printing only, because a reader of the output may block it for ever.
    private let queue = DispatchQueue(label: "prefs.watch")
    private let finished = DispatchSemaphore(value: 0)
    private let state = Locked(State())

    private struct State {
        /// The error that ends the watch.
        var failure: (any Error)?
        /// Why the file cannot be read, as it was printed last.
        var readError: String?
    }

    /// - Parameters:
    ///   - target: the name of the store, for messages.
    ///   - file: the path of the preferences file; nil if there is none.
    init(
        _ prefs: PersistentPrefs, _ keys: [String], of program: Program, asJSON: Bool, target: String, file: String?
    ) {
        self.prefs = prefs
        self.program = program.name
        self.keys = keys
        self.asJSON = asJSON
        self.target = target
        self.file = file
    }

    /// Returns after SIGINT, SIGTERM or SIGHUP, or when the output is closed.
    ///
    /// - Throws: the error that prevents watching or printing. A closed pipe is not an error.
    func run() throws {
        let signals = TerminationSignals { self.finished.signal() }
        signal(SIGPIPE, SIG_IGN)
        let observation = prefs.onChange(of: keys, on: queue) { self.print($0) }
        if let error = prefs.lastError { throw error }
        // A file that becomes malformed is not reported as a change. `onChange` reports a file that cannot be watched.
        let watch = file.flatMap { file in
            try? SidecarPaths.watch(path: file) { [queue] in queue.async { self.reportReadErrors() } }
        }
        // A file that cannot be read is still watched, since it may become readable.
        queue.sync { reportReadErrors() }
        printStatus("\(program): watching \((file ?? target).printable); press Ctrl-C to stop")
        finished.wait()
        observation.cancel()
        withExtendedLifetime(watch) {}
        withExtendedLifetime(signals) {}
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Reports when the file becomes unreadable and when it is readable again, and what is wrong with layers.
    private func reportReadErrors() {
        _ = prefs.values
        let now = prefs.lastError.flatMap { $0.isWarning && !$0.isOfLayers ? nil : $0.description }
        let isNew = state.withLock { state in
            defer { state.readError = now }
            return now != state.readError
        }
        guard isNew else { return }
        if asJSON {
            printStatus(OutputFormat.json.text(JSONText.object([("error", now ?? NSNull())]), for: STDERR_FILENO))
        } else {
            printStatus("\(program): " + (now ?? "\(file ?? target) can be read again").printable)
        }
    }

    /// Ignores errors, because a status line is optional.
    private func printStatus(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    private func print(_ change: PrefsChange) {
        guard state.withLock({ $0.failure == nil }) else { return }
        let time = JSONText.date(Date())
        let lines = change.keys.map { line($0, of: change, time) }
        do {
            let bytes = Data(lines.joined().utf8)
            try FileHandle.standardOutput.write(
                contentsOf: (asJSON ? OutputFormat.json : .text).bytes(bytes, for: STDOUT_FILENO))
        } catch {
            if (error as? CocoaError)?.underlying(NSPOSIXErrorDomain) != EPIPE { state.withLock { $0.failure = error } }
            finished.signal()
        }
    }

    private func line(_ key: String, of change: PrefsChange, _ time: String) -> String {
        let (old, new) = (change.oldValues[key], change.newValues[key])
        let origin = change.origin == .elsewhere ? "elsewhere" : "this process"
        if asJSON {
            return JSONText.object([
                ("time", time), ("key", key), ("old", old ?? NSNull()), ("new", new ?? NSNull()), ("origin", origin),
            ]) + "\n"
        }
        let text = [old, new].map { $0.map(ValueText.line) ?? "(not set)" }.joined(separator: " → ")
        return "\(time)  \(key): \(text)  (\(origin))".printable + "\n"
    }
}

extension CocoaError {
    fileprivate func underlying(_ domain: String) -> Int32? {
        (userInfo[NSUnderlyingErrorKey] as? NSError).flatMap { $0.domain == domain ? Int32($0.code) : nil }
    }
}
