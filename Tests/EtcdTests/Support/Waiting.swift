import Dispatch
import Foundation
import PrefsEtcd
import PrefsPropertyLists
import TestSupport
import Testing

/// The longest wait of a test. One that ends without what it waits for is an issue at its own line.
var longestWait: Duration { .seconds(Patience.seconds) }

/// A deadline that a test waits for: three times as long under a sanitizer, where what comes before it takes longer.
func shortWait(_ seconds: Int) -> Duration { .seconds(Patience.isExtended ? 3 * seconds : seconds) }

extension EtcdStore.Options {
    /// For what succeeds, however busy the machine is. Another number is another client, as in another process.
    static func patient(
        _ number: Int = 0, reads: EtcdStore.ReadMode = .followed, staleness: Duration = .seconds(10)
    ) -> EtcdStore.Options {
        EtcdStore.Options(reads: reads, deadline: .seconds(40 + number), staleness: staleness)
    }
}

/// Asks again and again until the answer is yes.
func wait(sourceLocation: SourceLocation = #_sourceLocation, until isDone: () throws -> Bool) rethrows {
    let limit = ContinuousClock.Instant.now + longestWait
    while try !isDone() {
        guard .now < limit else {
            Issue.record("\(Patience.failure("not true"))", sourceLocation: sourceLocation)
            return
        }
        poll(nil, 0, 2)
    }
}

/// What one thread tells another: each `wait` takes one `signal`.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func signal() { semaphore.signal() }

    func wait(sourceLocation: SourceLocation = #_sourceLocation) {
        if semaphore.wait(timeout: .now() + longestWait / .seconds(1)) == .timedOut {
            Issue.record("\(Patience.failure("not signalled"))", sourceLocation: sourceLocation)
        }
    }
}

/// Waits for what the closure returns, and cancels it if it takes too long.
func inTime<R: Sendable>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async -> R
) async -> R {
    let task = Task(operation: body)
    let isDone = Locked(false)
    DispatchQueue.global().asyncAfter(deadline: .now() + longestWait / .seconds(1)) {
        if isDone.withLock({ $0 }) { return }
        Issue.record("\(Patience.failure("not done"))", sourceLocation: sourceLocation)
        task.cancel()
    }
    defer { isDone.withLock { $0 = true } }
    return await task.value
}
