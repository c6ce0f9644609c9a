import Dispatch
import Foundation
import PrefsPropertyLists

/// Closes replaced files on another thread. Their last close frees their blocks. If the file system discards freed
/// blocks, this takes longer than the flushes of a write.
///
/// At most a few files wait; more files are closed at once. A forked child has only one thread: it closes every file at
/// once, also those that were waiting in its parent. When the process ends, the system closes the waiting files.
///
/// If the system has no thread to give, files are closed at once. Whoever waits for the waiting files closes them itself,
/// because the thread may not have begun.
///
/// The thread does not belong to Dispatch, whose queues do not run in a forked child if they have run in its parent.
final class BackgroundCloser: Sendable {
    /// What closes a descriptor, unless that belongs to another file by now.
    protocol Owner: AnyObject, Sendable {
        func isStill(_ opened: FileStatus, _ descriptor: Int32) -> Bool
        func close(_ descriptor: Int32)
    }

    static let shared = BackgroundCloser()

    private static let most = 8

    private struct Waiting {
        let descriptor: Int32
        let opened: FileStatus
        let owner: any Owner

        /// Closes the descriptor, unless the program has closed it in the meantime and uses its number for another
        /// file.
        func close() {
            if owner.isStill(opened, descriptor) { owner.close(descriptor) }
        }
    }

    private struct State {
        var waiting: [Waiting] = []
        /// The files that are being closed, each by its own thread.
        var closing: [Waiting] = []
        var hasThread = false
    }

    private let state = Locked(State())
    /// Signalled for each file that waits.
    private let work = DispatchSemaphore(value: 0)
    private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// - Parameter start: starts a thread; false if the system has none to give.
    init(start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { DetachedThread.start($0) }) {
        self.start = start
    }

    deinit {
        work.signal()
    }

    /// - Parameter opened: the status of the file.
    func close(_ descriptor: Int32, _ opened: FileStatus, _ owner: any Owner) {
        let file = Waiting(descriptor: descriptor, opened: opened, owner: owner)
        if ProcessMark.isInForkedChild {
            closeAll()
            return file.close()
        }
        let (waits, needsThread) = state.withLock { state in
            guard state.waiting.count < Self.most else { return (false, false) }
            state.waiting.append(file)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        if needsThread, !startThread() {
            state.withLock { $0.hasThread = false }
            return closeAll()
        }
        if waits { work.signal() } else { file.close() }
    }

    private func startThread() -> Bool {
        start { [weak self, work] in
            while true {
                work.wait()
                guard let self else { return }
                self.closeAll()
            }
        }
    }

    /// Whether a file waits or is being closed. False in a forked child.
    func isClosing(for owner: any Owner) -> Bool {
        !ProcessMark.isInForkedChild
            && state.withLock { state in
                state.closing.contains { $0.owner === owner } || state.waiting.contains { $0.owner === owner }
            }
    }

    /// Closes the waiting files, and waits for those that other threads are closing.
    func finish() {
        closeAll()
        while !ProcessMark.isInForkedChild, !state.withLock({ $0.closing.isEmpty }) { usleep(500) }
    }

    private func closeAll() {
        while let next = takeNext() {
            next.close()
            state.withLock { state in
                state.closing.firstIndex { $0.descriptor == next.descriptor && $0.owner === next.owner }
                    .map { _ = state.closing.remove(at: $0) }
            }
        }
    }

    private func takeNext() -> Waiting? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            state.closing.append(state.waiting.removeFirst())
            return state.closing.last
        }
    }
}
