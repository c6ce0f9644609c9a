import Foundation
import PersistentPreferences

/// Handles SIGINT, SIGTERM and SIGHUP while it exists. They call a handler instead of ending the program.
///
/// A signal that is ignored when the program starts stays ignored, as `nohup` expects.
package final class TerminationSignals {
    private let firstReceived = Locked<Int32?>(nil)
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter handler: called after each signal, on a private queue.
    package init(_ handler: @escaping @Sendable () -> Void = {}) {
        let queue = DispatchQueue(label: "prefs.signals")
        sources = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [firstReceived] in
                firstReceived.withLock { $0 = $0 ?? number }
                handler()
            }
            source.activate()
            return source
        }
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
