import Dispatch
import Foundation
import PrefsPropertyLists

/// Closes replaced files on another thread. Their last close frees their blocks. If the file system discards freed
/// blocks, this takes longer than the flushes of a write.
///
/// At most a few files wait; more files are closed at once. A forked child has only one thread: it closes every file at
/// once, also those that were waiting in its parent. When the process ends, the system closes the waiting files.
///
/// The thread does not belong to Dispatch, whose queues do not run in a forked child if they have run in its parent.
final class BackgroundCloser: Sendable {
    static let shared = BackgroundCloser()

    private static let most = 8

    private struct Waiting {
        let descriptor: SystemCalls.Descriptor
        let opened: FileStatus
        let system: SystemCalls

        /// Closes the descriptor, unless the program has closed it in the meantime and uses its number for another
        /// file.
        func close() {
            if system.isStill(opened, descriptor) { system.close(descriptor) }
        }
    }

    private struct State {
        var waiting: [Waiting] = []
        /// The file that is being closed.
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
