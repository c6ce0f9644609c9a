import Foundation
import PrefsEtcd
import PrefsPropertyLists
import TestSupport
import Testing

/// The longest wait of a test. One that ends without what it waits for is an issue at its own line.
var longestWait: Duration { .seconds(Patience.seconds) }

/// A deadline that a test waits for: longer where waits are, because what comes before it takes longer, too.
func shortWait(_ seconds: Int) -> Duration { .seconds((Patience.isExtended ? 3 : 1) * seconds * Patience.slowness) }

/// A deadline for what succeeds, however busy the machine is. Another number is another client, as in another process.
func ampleWait(_ number: Int = 0) -> Duration { .seconds(ampleSeconds + number) }

/// One number for a run, because the same deadline is the same client.
private let ampleSeconds = 40 * Patience.slowness

extension EtcdStore.Options {
    /// Options with an ample deadline.
    static func patient(
        _ number: Int = 0, reads: EtcdStore.ReadMode = .followed, staleness: Duration = .seconds(10)
    ) -> EtcdStore.Options {
        EtcdStore.Options(reads: reads, deadline: ampleWait(number), staleness: staleness)
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

extension Locked<Int> {
    /// Counts one more.
    ///
    /// - Returns: how many there are now.
    @discardableResult func next() -> Int {
        withLock { count in
            count += 1
            return count
        }
    }
}

extension Locked<Bool> {
    /// Makes it false.
    ///
    /// - Returns: whether it was true.
    func take() -> Bool {
        withLock { isLeft in
            defer { isLeft = false }
            return isLeft
        }
    }
}
