import Foundation
import Testing

@testable import PrefsTool

/// Signals that let a program end in order.
@Suite struct TerminationSignalsTests {
    /// As when a person presses Ctrl-C as soon as `prefs watch` says that it watches.
    @Test func aSignalRightAfterTheStartIsReceived() async {
        await #expect(processExitsWith: .success) {
            let handled = DispatchSemaphore(value: 0)
            let signals = TerminationSignals { handled.signal() }
            kill(getpid(), SIGTERM)
            exit(handled.wait(timeout: .now() + 30) == .success && signals.received == SIGTERM ? 0 : 1)
        }
    }
}
