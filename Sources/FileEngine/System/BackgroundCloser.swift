import Dispatch
import Foundation
import PrefsPropertyLists

/// Closes replaced files on another thread. Their last close frees their blocks. If the file system discards freed blocks, this takes
/// longer than the flushes of a write.
///
/// A few files wait at most; if more come, they are closed at once. The same applies in a forked child, which has only one thread, and
/// closes what was waiting in its parent. The system closes what is still waiting when the process ends.
///
/// The thread is none of Dispatch, whose queues run nothing in a forked child if they have run something in its parent.
final class BackgroundCloser: Sendable {
    static let shared = BackgroundCloser()

    private static let most = 8

    private struct Waiting {
        let descriptor: SystemCalls.Descriptor
        let opened: FileStatus
        let system: SystemCalls

        /// Not if the program has closed the descriptor meanwhile, and got it for a file of its own.
        func close() {
            if system.isStill(opened, descriptor) { system.close(descriptor) }
        }
    }

    private struct State {
        var waiting: [Waiting] = []
        /// The one that is being closed.
        var current: Waiting?
        var hasThread = false

        var isIdle: Bool { waiting.isEmpty && current == nil }
    }

    private let state = Locked(State())
    /// Signalled for each file that waits.
    private let work = DispatchSemaphore(value: 0)

    deinit {
        work.signal()
    }

    /// - Parameter opened: the status of the file.
    func close(_ descriptor: SystemCalls.Descriptor, _ opened: FileStatus, _ system: SystemCalls) {
        let file = Waiting(descriptor: descriptor, opened: opened, system: system)
        if LockRegistry.forks > 0 {
            closeAll()
            return file.close()
        }
        let (waits, needsThread) = state.withLock { state in
            guard state.waiting.count < Self.most else { return (false, false) }
            state.waiting.append(file)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        if needsThread { startThread() }
        if waits { work.signal() } else { file.close() }
    }

    private func startThread() {
        Thread.detachNewThread { [weak self, work] in
            while true {
                work.wait()
                guard let self else { return }
                self.closeAll()
            }
        }
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
        while LockRegistry.forks == 0, !state.withLock({ $0.isIdle }) { usleep(500) }
    }

    private func closeAll() {
        while let next = takeNext() { next.close() }
    }

    private func takeNext() -> Waiting? {
        state.withLock { state in
            state.current = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            return state.current
        }
    }
}
