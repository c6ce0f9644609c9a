import Dispatch
import PrefsPropertyLists

/// Changes that are asked for one at a time, by a task that waits for them. Has to be ended: a `StreamHandle` does.
final class ChangeStream<Element>: ChangeReceiver, @unchecked Sendable {
    private let queue = DispatchQueue(label: "PersistentPreferences.sequence")
    private let lock = Lock()
    // Under the lock.
    private var follower: RootFollower?
    private var first: Element?
    private var waiting = WaitingChanges()
    private var tasks: [CheckedContinuation<PendingChange?, Never>] = []
    private var isOver = false
    private var element: ((PendingChange) -> Element?)?

    /// - Parameters:
    ///   - follower: nil for a stream of nothing.
    ///   - element: what the stream makes of a change; nil leaves it out.
    init(_ follower: RootFollower?, _ element: @escaping (PendingChange) -> Element?) {
        self.follower = follower
        self.element = element
        isOver = follower == nil
    }

    /// Puts something before all changes. Called before anybody asks.
    func begin(with first: Element) {
        lock.withLock { self.first = first }
    }

    func put(_ change: PendingChange) -> (@Sendable () -> Void)? {
        lock.withLock {
            guard !isOver else { return }
            waiting.append(change)
            // Not here: a task is resumed by its executor, which is somebody else's code.
            if !tasks.isEmpty { queue.async { self.serve() } }
        }
        return nil
    }

    func end() {
        let (follower, tasks, last) = lock.withLock {
            isOver = true
            defer { (self.follower, self.tasks, element, waiting, first) = (nil, [], nil, WaitingChanges(), nil) }
            return (self.follower, self.tasks, (element, waiting, first))
        }
        follower?.end()
        for task in tasks { task.resume(returning: nil) }
        withExtendedLifetime(last) {}
    }

    /// nil where the stream has ended, or the task was cancelled, which ends it.
    func next(isolation: isolated (any Actor)?) async -> Element? {
        if Task.isCancelled { end() }
        if let first = lock.withLock({ take(&first) }) { return first }
        while let change = await nextChange(isolation: isolation) {
            guard let element = lock.withLock({ element }) else { return nil }
            if let element = element(change) { return element }
        }
        return nil
    }

    private func take(_ value: inout Element?) -> Element? {
        defer { value = nil }
        return value
    }

    private func nextChange(isolation: isolated (any Actor)?) async -> PendingChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { task in
                let answer: PendingChange?? = lock.withLock {
                    if isOver { return .some(nil) }
                    // One that waits already comes first.
                    if tasks.isEmpty, let change = waiting.popFirst() { return change }
                    tasks.append(task)
                    return nil
                }
                if let answer { task.resume(returning: answer) }
            }
        } onCancel: {
            end()
        }
    }

    /// Gives waiting tasks what waits for them.
    private func serve() {
        while let (task, change) = lock.withLock({ () -> (CheckedContinuation<PendingChange?, Never>, PendingChange)? in
            guard !tasks.isEmpty, let change = waiting.popFirst() else { return nil }
            return (tasks.removeFirst(), change)
        }) {
            task.resume(returning: change)
        }
    }
}
