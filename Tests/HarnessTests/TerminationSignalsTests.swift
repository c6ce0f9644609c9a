import Foundation
import Testing

@testable import PrefsTool

@Suite struct TerminationSignalsTests {
    /// A person presses Ctrl-C as soon as the program says that it watches.
    @Test func aSignalRightAfterTheStartIsReceived() async {
        await #expect(processExitsWith: .success) {
            let handled = DispatchSemaphore(value: 0)
            let signals = TerminationSignals { handled.signal() }
            kill(getpid(), SIGTERM)
            exit(handled.wait(timeout: .now() + 30) == .success && signals.received == SIGTERM ? 0 : 1)
        }
    }
}
