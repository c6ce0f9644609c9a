import Foundation
import PersistentPreferences

/// Prints each change of a source until a signal ends the program or its output is closed.
final class Watch: Sendable {
    private let source: any WatchSource
    private let program: String
    private let context: ProcessContext
    private let asJSON: Bool

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

    init(_ source: any WatchSource, of program: Program, asJSON: Bool) {
        self.source = source
        self.program = program.name
        context = program.context
        self.asJSON = asJSON
    }

    /// Returns after SIGINT, SIGTERM or SIGHUP, or when the output is closed.
    ///
    /// - Throws: the error that prevents watching or printing. A closed pipe is not an error.
    func run() throws {
        let signals = TerminationSignals { self.finished.signal() }
        signal(SIGPIPE, SIG_IGN)
        let observation = try source.observe(
            on: queue, report: { self.print($0) }, look: { [weak self] in self?.look() })
        // A file that cannot be read is still watched, since it may become readable.
        queue.sync { look() }
        printStatus("\(program): watching \(source.place.printable); press Ctrl-C to stop")
        finished.wait()
        withExtendedLifetime(observation) {}
        withExtendedLifetime(signals) {}
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Reports when the file becomes unreadable and when it is readable again, what is wrong with layers, and the changes that are found by
    /// looking.
    private func look() {
        let (changes, failure) = source.look()
        let now = failure.flatMap { $0.isWarning && !$0.isOfLayers ? nil : $0.description }
        let isNew = state.withLock { state in
            defer { state.readError = now }
            return now != state.readError
        }
        if isNew {
            if asJSON {
                printStatus(OutputFormat.json.text(JSONText.object([("error", now)]).json, for: context.errors))
            } else {
                printStatus("\(program): " + (now ?? "\(source.place) can be read again").printable)
            }
        }
        if !changes.isEmpty { print(changes) }
    }

    private func printStatus(_ line: String) { context.writeError(line + "\n") }

    private func print(_ changes: [WatchedChange]) {
        guard state.withLock({ $0.failure == nil }) else { return }
        let time = JSONText.date(Date())
        let bytes = Data(changes.map { line($0, time) }.joined().utf8)
        do {
            try context.writeOutput((asJSON ? OutputFormat.json : .text).bytes(bytes, for: context.output))
        } catch {
            if (error as? CocoaError)?.underlying(NSPOSIXErrorDomain) != EPIPE { state.withLock { $0.failure = error } }
            finished.signal()
        }
    }

    private func line(_ change: WatchedChange, _ time: String) -> String {
        let origin = change.origin == .elsewhere ? "elsewhere" : "this process"
        if asJSON {
            let path: [(name: String, value: any JSONPrintable)] = change.path.map { [("path", $0)] } ?? []
            return JSONText.object(
                [("time", time), ("key", change.key)] + path
                    + [("old", change.old), ("new", change.new), ("origin", origin)]
            ).json + "\n"
        }
        let text = [change.old, change.new].map { $0.map(ValueText.line) ?? "(not set)" }.joined(separator: " → ")
        return "\(time)  \(change.key): \(text)  (\(origin))".printable + "\n"
    }
}

extension CocoaError {
    fileprivate func underlying(_ domain: String) -> Int32? {
        (userInfo[NSUnderlyingErrorKey] as? NSError).flatMap { $0.domain == domain ? Int32($0.code) : nil }
    }
}
