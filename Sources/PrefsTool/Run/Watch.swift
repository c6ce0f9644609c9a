import Foundation
import PersistentPreferences
import PrefsFileEngine
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
    /// The roots, whose domain may know who writes; nil if the place is not a root.
    private let roots: Roots?

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
        roots = place.root == nil ? nil : try place.target?.store(of: invocation.program).roots
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

    /// The changes of the watched places.
    private func changes(from old: [String: StoredValue], to new: [String: StoredValue]) -> [Difference.Entry] {
        let secrets = place.secrets.current
        if names.isEmpty { return Difference(from: old, to: new, hiding: secrets).entries }
        let places = names.compactMap { try? place.path($0, in: old.merging(new) { $1 }) }
        var found: Set<ValuePath> = []
        // Places may overlap.
        return places.flatMap { path in
            Difference(at: path, from: path.value(in: old), to: path.value(in: new), hiding: secrets).entries
        }.filter { found.insert($0.path).inserted }
    }

    private func print(_ changes: [Difference.Entry]) {
        guard state.withLock({ $0.failure == nil }) else { return }
        let time = JSONText.date(Date())
        let writer = place.root.flatMap { roots?.lastWriter(of: $0) }
        let bytes = Data(changes.map { line($0, time, writer) }.joined().utf8)
        do {
            try context.writeOutput((asJSON ? OutputFormat.json : .text).bytes(bytes, for: context.output))
        } catch {
            if error.code != EPIPE { state.withLock { $0.failure = error } }
            finished.signal()
        }
    }

    private func line(_ change: Difference.Entry, _ time: String, _ writer: String?) -> String {
        let (path, old, new) = change
        if asJSON {
            return JSONText.object(
                [
                    ("time", time), ("key", path.text), ("path", path.names), ("old", old.map(Difference.exact)),
                    ("new", new.map(Difference.exact)),
                ] + (writer.map { [("by", $0)] } ?? [])
            ).json + "\n"
        }
        let text = [old, new].map { $0.map(Difference.shown) ?? "(not set)" }.joined(separator: " → ")
        return "\(time)  \(path.text): \(text)\(writer.map { "  by \($0)" } ?? "")".printable + "\n"
    }
}

extension Place {
    /// Calls the closure from any thread when values or the state of the file may have changed, until the returned
    /// object is released. Links on the path are followed, also when they change.
    ///
    /// - Returns: the observation, and why changes that are made elsewhere will not be noticed.
    /// - Throws: why nothing is observed.
    func observe(_ changed: @escaping @Sendable () -> Void) throws -> (observation: AnyObject, failure: PrefsError?) {
        if prefs == nil, file == nil, root == nil {
            throw CommandError("\(name) cannot be watched, because it has no file")
        }
        guard let roots = prefs?.state.roots ?? entries else { throw CommandError("\(name) has no file") }
        let changed: @Sendable () -> EntryObserver.Action? = {
            changed()
            return nil
        }
        let observer = EntryObserver(.signal { _ in changed() }) { _ in changed() }
        let subscription = try PrefsError.converting {
            guard let prefs else {
                return try roots.subscribe(to: root.map(DomainPart.root) ?? .everything, observer)
            }
            try NameVetting.checkRoot(prefs.key)
            return try roots.subscribe(to: prefs.key, keys: prefs.allowedKeyList, observer)
        }
        return (subscription, subscription.failure.map { .notWatched($0) })
    }
}

/// Handles SIGINT, SIGTERM and SIGHUP while it exists. They call a handler instead of ending the program.
///
/// A signal that is ignored when the program starts stays ignored, as `nohup` expects.
package final class TerminationSignals {
    private let firstReceived = Locked<Int32?>(nil)
    private var sources: [any DispatchSourceSignal] = []

    /// Returns when the signals are received: Dispatch registers a source on a thread of its own, perhaps much later.
    ///
    /// - Parameter handler: called after each signal, on a private queue.
    package init(_ handler: @escaping @Sendable () -> Void = {}) {
        let queue = DispatchQueue(label: "prefs.signals")
        let registered = DispatchGroup()
        let numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
        sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [firstReceived] in
                firstReceived.withLock { $0 = $0 ?? number }
                handler()
            }
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.activate()
            return source
        }
        registered.wait()
        #if canImport(Darwin)
            // Elsewhere, Dispatch has a handler of its own.
            for number in numbers { signal(number, SIG_IGN) }
        #endif
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// The first signal that was received.
    package var received: Int32? { firstReceived.withLock { $0 } }

    private static func isIgnored(_ number: Int32) -> Bool {
        let former = signal(number, SIG_IGN)
        signal(number, former)
        return unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
