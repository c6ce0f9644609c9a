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

    private let waiting = Locked<[Waiting]>([])
    private let queue = DispatchQueue(label: "PersistentPreferences.BackgroundCloser", qos: .utility)

    func close(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) {
        let file = Waiting(descriptor: descriptor, system: system)
        if LockRegistry.forks > 0 {
            closeAll()
            return system.close(descriptor)
        }
        let waits = waiting.withLock { waiting in
            guard waiting.count < Self.most else { return false }
            waiting.append(file)
            return true
        }
        if waits { queue.async(execute: closeAll) } else { system.close(descriptor) }
    }

    private func closeAll() {
        while let next = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            next.system.close(next.descriptor)
        }
    }
}
