import Foundation
import PrefsPropertyLists

/// Looks at files once a second, on one thread of the process, which ends when there is nothing to look at.
final class FilePoller: Sendable {
    static let shared = FilePoller()

    private let milliseconds: Int32

    private struct State {
        var looks: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var hasThread = false
    }

    private let state = Locked(State())

    /// - Parameter milliseconds: the time between two looks.
    init(every milliseconds: Int32 = 1_000) {
        self.milliseconds = milliseconds
    }

    /// Calls the closure at each look until the returned object is released.
    ///
    /// - Returns: nil if the system has no thread to give, and in a forked child, in which the thread does not exist.
    func start(_ look: @escaping @Sendable () -> Void) -> AnyObject? {
        if ProcessMark.isInForkedChild { return nil }
        let poll = Poll(self)
        let hasThread = state.withLock { state in
            state.looks[ObjectIdentifier(poll)] = look
            if !state.hasThread { state.hasThread = DetachedThread.start { [self] in run() } }
            return state.hasThread
        }
        return hasThread ? poll : nil
    }

    private func run() {
        while true {
            _ = Foundation.poll(nil, 0, milliseconds)
            let looks = state.withLock { state in
                state.hasThread = !state.looks.isEmpty
                return Array(state.looks.values)
            }
            if looks.isEmpty { return }
            looks.forEach { $0() }
        }
    }

    private final class Poll: Sendable {
        private let poller: FilePoller

        init(_ poller: FilePoller) {
            self.poller = poller
        }

        deinit {
            // The closure is released outside the lock.
            let look = poller.state.withLock { $0.looks.removeValue(forKey: ObjectIdentifier(self)) }
            withExtendedLifetime(look) {}
        }
    }
}

/// Calls a closure once a second while that is needed.
package struct Polling: Sendable {
    private let poll = Locked<AnyObject?>(nil)

    package init() {}

    /// Starts or ends the calls. If the system has no thread to give, the next call of this method tries again.
    ///
    /// - Parameter isNeeded: evaluated while no other thread starts or ends the calls.
    package func update(isNeeded: @autoclosure () -> Bool, _ look: @escaping @Sendable () -> Void) {
        let former = poll.withLock { poll in
            defer {
                if !isNeeded() {
                    poll = nil
                } else if poll == nil {
                    poll = FilePoller.shared.start(look)
                }
            }
            return poll
        }
        // Released outside the lock.
        withExtendedLifetime(former) {}
    }
}
