import Dispatch
import PrefsPropertyLists

/// Closes replaced files on another thread. Their last close frees their blocks. If the file system discards freed blocks, this takes
/// longer than the flushes of a write.
///
/// A few files wait at most; if more come, they are closed at once. The same applies in a forked child, which has only one thread, and
/// closes what was waiting in its parent. The system closes what is still waiting when the process ends.
final class BackgroundCloser: Sendable {
    static let shared = BackgroundCloser()

    private static let most = 8

    private struct Waiting {
        let descriptor: SystemCalls.Descriptor
        let system: SystemCalls
    }

    private struct State {
        var waiting: [Waiting] = []
        /// The one that is being closed.
        var current: Waiting?
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "PersistentPreferences.BackgroundCloser", qos: .utility)

    func close(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) {
        if LockRegistry.forks > 0 {
            closeAll()
            return system.close(descriptor)
        }
        let waits = state.withLock { state in
            guard state.waiting.count < Self.most else { return false }
            state.waiting.append(Waiting(descriptor: descriptor, system: system))
            return true
        }
        if waits { queue.async(execute: closeAll) } else { system.close(descriptor) }
    }

    /// Whether a file waits or is being closed. False in a forked child.
    func isClosing(for system: SystemCalls) -> Bool {
        LockRegistry.forks == 0
            && state.withLock { state in
                state.current?.system === system || state.waiting.contains { $0.system === system }
            }
    }

    /// Waits until all files are closed.
    func finish() {
        if LockRegistry.forks == 0 { queue.sync {} }
    }

    private func closeAll() {
        while let next = takeNext() { next.system.close(next.descriptor) }
    }

    private func takeNext() -> Waiting? {
        state.withLock { state in
            state.current = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            return state.current
        }
    }
}
