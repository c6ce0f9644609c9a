import Foundation

/// The wish of the user, or of the system, that the program ends: SIGINT, SIGTERM and SIGHUP, by which it then does not end
/// of itself. What is ignored at the start stays so, as `nohup` has it.
final class TerminationSignals: @unchecked Sendable {
    /// Of its own, since others may wait for something.
    private let queue = DispatchQueue(label: "prefs.signals")
    private let lock = NSLock()
    /// Under the lock.
    private var firstSignal: Int32?
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter handler: called with each of them.
    init(_ handler: @escaping @Sendable () -> Void = {}) {
        sources = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [weak self] in
                self?.record(number)
                handler()
            }
            source.activate()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// The first that has come.
    var received: Int32? { lock.withLock { firstSignal } }

    private func record(_ number: Int32) {
        lock.withLock { firstSignal = firstSignal ?? number }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let former = signal(number, SIG_IGN)
        signal(number, former)
        return unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
