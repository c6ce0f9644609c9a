import Dispatch
import Foundation
import PrefsPropertyLists

/// An open file. Its release closes the descriptor, if that still belongs to the file.
package final class OpenFile: Sendable {
    /// How long a descriptor is open.
    package enum Lifetime: Sendable {
        /// For one call of the engine. The program's code does not run in that time, so the descriptor is closed
        /// without a check.
        case call
        /// While the program's code runs. That code may close all descriptors, as daemons do, and reuse the number for
        /// another file.
        case update
        /// As long as a state is cached. Another file may take the name of this file, so that closing it is slow.
        case snapshot
    }

    package let descriptor: SystemCalls.Descriptor
    private let system: SystemCalls
    private let lifetime: Lifetime
    /// The status when the file was opened; nil for the lifetime of a call.
    private let opened: FileStatus?
    /// Whether the file is closed, or its number was found to belong to another file. A lost descriptor stays lost,
    /// because the file may be opened again under the same number.
    nonisolated(unsafe) private var isInvalid = false
    /// Whether the descriptor is closed, because the file is on a server. The file is opened by its name if it is needed.
    nonisolated(unsafe) private var isSuspended = false
    /// Guards `isInvalid` and `isSuspended` of all files, because a lock for each file would cost each write an allocation.
    private static let lock = Lock()

    /// Takes over the descriptor, for one call.
    package convenience init(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) {
        self.init(descriptor, system, .call, opened: nil)
    }

    /// Takes over the descriptor.
    ///
    /// - Parameter status: the status of the file.
    @inline(never) package init(
        _ descriptor: SystemCalls.Descriptor, _ system: SystemCalls, _ lifetime: Lifetime, opened status: FileStatus?
    ) {
        self.descriptor = descriptor
        self.system = system
        self.lifetime = lifetime
        opened = lifetime == .call ? nil : status
    }

    /// Whether the descriptor still belongs to this file.
    @inline(never) package var isIntact: Bool {
        if hasEnded { return false }
        guard let opened else { return true }
        if system.isStill(opened, descriptor) { return true }
        abandon()
        return false
    }

    /// Closes the file until `opened(_:under:)`, because no file of a server is kept open.
    func suspend() {
        let isFirst = Self.lock.withLock {
            defer { (isInvalid, isSuspended) = (true, true) }
            return !isInvalid
        }
        if isFirst { system.close(descriptor) }
    }

    /// This file or, if it is suspended, the file that has its name now. Called under the write lock.
    func opened(_ name: String, under writeLock: WriteLock) throws(StorageFailure) -> OpenFile {
        guard writeLock.isOnServer, Self.lock.withLock({ isSuspended }) else { return self }
        guard let (file, _) = try system.openLockedFile(name, in: writeLock.folder, on: writeLock.fileSystem) else {
            throw StorageFailure(path: "", reason: "was removed by another program during the update")
        }
        return file
    }

    /// Whether this is the file with that status. False if its own status is unknown.
    func wasOpened(as there: FileStatus) -> Bool { opened?.isSameFile(as: there) ?? false }

    /// Leaves the number to the program, which uses it for another file. Called before the file is opened again.
    package func abandon() {
        Self.lock.withLock { isInvalid = true }
    }

    private var hasEnded: Bool { Self.lock.withLock { isInvalid } }

    /// Takes over the descriptor of a folder, a socket or a queue of the system that is open while the program's code
    /// runs.
    package static func kept(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) -> OpenFile {
        OpenFile(descriptor, system, .update, opened: try? system.status(of: descriptor))
    }

    /// Releases the lock on the file and closes it.
    ///
    /// - Parameter unlocks: false in a forked child, whose lock belongs to its parent.
    func end(unlocks: Bool) {
        guard isIntact else { return }
        abandon()
        // Unlocks before it closes, because a forked child may hold the descriptor, too. A close alone would leave the
        // lock to that child.
        if unlocks { system.unlock(descriptor) }
        system.close(descriptor)
    }

    deinit {
        if lifetime == .snapshot, let opened {
            if !hasEnded { system.closeReplaced(descriptor, opened) }
        } else if isIntact {
            system.close(descriptor)
        }
    }
}

// MARK: - Replaced files

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
    func close(_ descriptor: SystemCalls.Descriptor, _ opened: FileStatus, _ system: SystemCalls) {
        let file = Waiting(descriptor: descriptor, opened: opened, system: system)
        if LockRegistry.forkCount > 0 {
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
    func isClosing(for system: SystemCalls) -> Bool {
        LockRegistry.forkCount == 0
            && state.withLock { state in
                state.closing.contains { $0.system === system } || state.waiting.contains { $0.system === system }
            }
    }

    /// Closes the waiting files, and waits for those that other threads are closing.
    func finish() {
        closeAll()
        while LockRegistry.forkCount == 0, !state.withLock({ $0.closing.isEmpty }) { usleep(500) }
    }

    private func closeAll() {
        while let next = takeNext() {
            next.close()
            state.withLock { state in
                state.closing.firstIndex { $0.descriptor == next.descriptor && $0.system === next.system }
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
