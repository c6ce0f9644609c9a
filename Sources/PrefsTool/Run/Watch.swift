import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

/// Prints the changes of a place until a signal ends the program or its output is closed.
///
/// The store only reports that something may have changed. The changes are the differences from the values that were
/// read before.
///
/// `@unchecked Sendable` because its place is used on its queue only.
final class Watch: @unchecked Sendable {
    private let place: Place
    private let program: String
    private let context: ProcessContext
    private let asJSON: Bool
    /// The names of the places to watch; empty for all.
    private let names: [String]

    /// The queue for reading and printing. It does nothing else, because a reader of the output may block it for ever.
    private let queue = DispatchQueue(label: "prefs.watch")
    private let finished = DispatchSemaphore(value: 0)
    private let state = Locked(State())

    private struct State {
        /// The values that were read last; nil before the first read.
        var known: [String: StoredValue]?
        /// The error that ends the watch.
        var failure: (any Error)?
        /// The last printed reason why the file cannot be read.
        var readError: String?
    }

    /// - Throws: an error if a name is not the name of a key, or if changes cannot be observed.
    init(_ place: Place, _ invocation: Invocation) throws {
        self.place = place
        program = invocation.program.name
        context = invocation.context
        asJSON = invocation.wantsJSON
        names = invocation.operands
        if place.prefs != nil { for name in names { _ = try place.path(name, in: [:]) } }
        // A file may appear later; the name of a domain may be a typing error.
        if place.prefs == nil, place.target?.suite != nil { _ = try place.existing() }
    }

    /// Returns after SIGINT, SIGTERM or SIGHUP, or when the output is closed.
    ///
    /// - Throws: the error that prevents watching or printing. A closed pipe is not an error.
    func run() throws {
        let signals = TerminationSignals { self.finished.signal() }
        signal(SIGPIPE, SIG_IGN)
        let observation = try place.observe { [queue, weak self] in queue.async { [weak self] in self?.look() } }
        if let failure = observation.failure { throw failure }
        // A file that cannot be read is watched, because it may become readable.
        queue.sync { look() }
        printStatus("\(program): watching \((place.file ?? place.name).printable); press Ctrl-C to stop")
        finished.wait()
        withExtendedLifetime(observation) {}
        withExtendedLifetime(signals) {}
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Reads the values, and prints those that have changed since the last time. Prints an error when it first occurs,
    /// and a line when it has ended.
    private func look() {
        var (values, failure): ([String: StoredValue]?, PrefsError?)
        do { (values, failure) = try place.read() } catch {
            // Entries of a file that becomes readable later are changes.
            (values, failure) = (
                state.withLock { $0.known } ?? [:], error as? PrefsError ?? .unknownError(error: error)
            )
        }
        let now = values ?? [:]
        let before = state.withLock { state in
            defer { state.known = now }
            return state.known ?? now
        }
        let message = failure.flatMap { $0.isWarning && !$0.isOfLayers ? nil : $0.description }
        let isNew = state.withLock { state in
            defer { state.readError = message }
            return message != state.readError
        }
        if isNew {
            if asJSON {
                printStatus(OutputFormat.json.text(JSONText.object([("error", message)]).json, for: context.errors))
            } else {
                printStatus("\(program): " + (message ?? "\(place.file ?? place.name) can be read again").printable)
            }
        }
        let changes = changes(from: before, to: now)
        if !changes.isEmpty { print(changes) }
    }

    private func printStatus(_ line: String) { context.writeError(line + "\n") }

    // MARK: - Changes

    private typealias Change = (path: ValuePath, old: StoredValue?, new: StoredValue?)

    private func changes(from old: [String: StoredValue], to new: [String: StoredValue]) -> [Change] {
        let all = old.merging(new) { $1 }
        let places =
            names.isEmpty
            ? all.sortedByBytes.map { ValuePath($0.key) } : names.compactMap { try? place.path($0, in: all) }
        var found: Set<ValuePath> = []
        // Places may overlap.
        return places.flatMap { changes(at: $0, from: $0.value(in: old), to: $0.value(in: new)) }
            .filter { found.insert($0.path).inserted }
    }

    /// The innermost places that differ. The elements of an array are compared if their number is the same.
    private func changes(at path: ValuePath, from old: StoredValue?, to new: StoredValue?) -> [Change] {
        if old == new { return [] }
        let isSecret = place.secrets.contains(path)
        if let old = old?.dictionary, let new = new?.dictionary, !isSecret {
            return old.merging(new) { $1 }.sortedByBytes.flatMap { key, _ in
                changes(at: path.appending(.key(key)), from: old[key], to: new[key])
            }
        }
        if let old = old?.array, let new = new?.array, old.count == new.count, !isSecret {
            return old.indices.flatMap { changes(at: path.appending(.index($0)), from: old[$0], to: new[$0]) }
        }
        let shown = [old, new].map { $0.map { place.secrets.shown($0, at: path) } }
        return [(path, shown[0], shown[1])]
    }

    private func print(_ changes: [Change]) {
        guard state.withLock({ $0.failure == nil }) else { return }
        let time = JSONText.date(Date())
        let bytes = Data(changes.map { line($0, time) }.joined().utf8)
        do {
            try context.writeOutput((asJSON ? OutputFormat.json : .text).bytes(bytes, for: context.output))
        } catch {
            if error.code != EPIPE { state.withLock { $0.failure = error } }
            finished.signal()
        }
    }

    private func line(_ change: Change, _ time: String) -> String {
        let (path, old, new) = change
        if asJSON {
            return JSONText.object([
                ("time", time), ("key", path.text), ("path", path.names), ("old", old), ("new", new),
            ]).json + "\n"
        }
        let text = [old, new].map { $0.map(ValueText.line) ?? "(not set)" }.joined(separator: " → ")
        return "\(time)  \(path.text): \(text)".printable + "\n"
    }
}

extension Runner {
    func watch() throws -> Outcome {
        try Watch(place, invocation).run()
        return Outcome()
    }
}

extension Place {
    /// Calls the closure from any thread when values or the state of the file may have changed, until the returned
    /// objects are released.
    ///
    /// - Returns: the observations, and why some changes will not be noticed.
    /// - Throws: why nothing is observed.
    func observe(_ changed: @escaping @Sendable () -> Void) throws -> (observation: [AnyObject], failure: PrefsError?) {
        var observation: [AnyObject] = []
        var failure: PrefsError?
        if let prefs {
            observation.append(prefs.onChange { _ in changed() })
            failure = prefs.lastError
            if let failure {
                guard case .notWatched = failure else { throw failure }
            }
        } else if file == nil {
            throw CommandError("\(name) cannot be watched, because it has no file")
        }
        // A file that becomes malformed is not reported as a change.
        if let file {
            do throws(StorageFailure) { observation.append(try SidecarPaths.watch(path: file, changed)) } catch {
                failure = failure ?? .notWatched(error)
            }
        }
        return (observation, failure)
    }
}
