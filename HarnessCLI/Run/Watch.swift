import Foundation
import PersistentPreferences
import PrefsTestSet

/// Prints changes as they come, until the program is told to end, or nobody reads any more.
final class Watch: @unchecked Sendable {
    private let prefs: PrefsTestSet
    private let keys: [String]
    private let asJSON: Bool
    private let place: String

    /// Printing is done on it, and nothing else: it waits for whoever reads, and that may be for ever.
    private let queue = DispatchQueue(label: "prefs.watch")
    private let end = DispatchSemaphore(value: 0)
    private let lock = NSLock()
    /// Under the lock.
    private var failure: (any Error)?

    /// - Parameter place: where the preferences are, for the user.
    init(_ prefs: PrefsTestSet, _ keys: [String], asJSON: Bool, place: String) {
        self.prefs = prefs
        self.keys = keys
        self.asJSON = asJSON
        self.place = place
    }

    /// Returns when the program is interrupted, terminated or hung up.
    ///
    /// - Throws: what keeps it from watching or printing; a pipe that is closed at its other end is no error.
    func run() throws {
        let signals = EndSignals { self.end.signal() }
        signal(SIGPIPE, SIG_IGN)
        let observation = prefs.onChange(of: keys, on: queue) { self.print($0) }
        if let error = prefs.lastError { throw error }
        let notice = "prefs: watching \(place.printable); Ctrl-C ends it\n"
        // What cannot be read now is watched all the same: it may be, later.
        let trouble = prefs.values.isEmpty ? prefs.lastError.map { "prefs: \($0.description.printable)\n" } : nil
        // Whoever does not read it knows as much.
        try? FileHandle.standardError.write(contentsOf: Data(((trouble ?? "") + notice).utf8))
        end.wait()
        observation.cancel()
        withExtendedLifetime(signals) {}
        if let failure = lock.withLock({ failure }) { throw failure }
    }

    private func print(_ change: PrefsChange) {
        guard lock.withLock({ failure == nil }) else { return }
        let time = JSONText.date(Date())
        let lines = change.keys.map { line($0, of: change, time) }
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(lines.joined().utf8))
        } catch {
            if (error as? CocoaError)?.underlying(NSPOSIXErrorDomain) != EPIPE { lock.withLock { failure = error } }
            end.signal()
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
