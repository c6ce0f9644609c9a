import Foundation
import PersistentPreferences

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
