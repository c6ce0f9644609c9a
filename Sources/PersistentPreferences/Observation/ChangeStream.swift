import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// Changes that a task requests one at a time and waits for. The owner must end it; a `StreamHandle` does.
final class ChangeStream<Element>: Sendable {
    private let queue = DispatchQueue(label: "PersistentPreferences.sequence")
    private let state: Locked<State>

    private typealias Continuation = CheckedContinuation<PendingChange?, Never>

    private struct State {
        var subscription: EntrySubscription?
        var first: Element?
        var waiting = WaitingChanges()
        var tasks: [Continuation] = []
        /// nil once the stream has ended.
        var element: ((PendingChange) -> Element?)?

        mutating func takeFirst() -> Element? {
            defer { first = nil }
            return first
        }

        /// A task and the change that it waits for.
        mutating func takePair() -> (Continuation, PendingChange)? {
            guard !tasks.isEmpty, let change = waiting.popFirst() else { return nil }
            return (tasks.removeFirst(), change)
        }
    }

    /// - Parameter element: what the stream makes of a change; nil leaves it out.
    init(_ element: @escaping (PendingChange) -> Element?) {
        state = Locked(State(element: element))
    }

    /// Keeps the subscription until the end. Called once, before anybody asks.
    ///
    /// - Parameter first: comes before all changes.
    func begin(_ subscription: EntrySubscription, with first: Element? = nil) {
        state.withLock { ($0.subscription, $0.first) = (subscription, first) }
    }

    func receive(_ change: PendingChange) -> (@Sendable () -> Void)? {
        let isAwaited = state.withLock { state in
            guard state.element != nil else { return false }
            state.waiting.append(change)
            return !state.tasks.isEmpty
        }
        // Resumes on the queue, because resuming a task runs the code of its executor.
        if isAwaited { queue.async { self.serve() } }
        return nil
    }

    func end() {
        let last = state.withLock { state in
            defer { state = State(element: nil) }
            return state
        }
        last.subscription?.end()
        for task in last.tasks { task.resume(returning: nil) }
    }

    /// nil if the stream has ended, or if the task was cancelled, which ends the stream.
    func next(isolation: isolated (any Actor)?) async -> Element? {
        if Task.isCancelled { end() }
        if let first = state.withLock({ $0.takeFirst() }) { return first }
        while let change = await nextChange(isolation: isolation) {
            guard let element = state.withLock({ $0.element }) else { return nil }
            if let element = element(change) { return element }
        }
        return nil
    }

    private func nextChange(isolation: isolated (any Actor)?) async -> PendingChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { task in
                let answer: PendingChange?? = state.withLock { state in
                    if state.element == nil { return .some(nil) }
                    // A change that already waits comes first.
                    if state.tasks.isEmpty, let change = state.waiting.popFirst() { return change }
                    state.tasks.append(task)
                    return nil
                }
                if let answer { task.resume(returning: answer) }
            }
        } onCancel: {
            end()
        }
    }

    /// Gives waiting tasks the changes that wait for them.
    private func serve() {
        while let (task, change) = state.withLock({ $0.takePair() }) {
            task.resume(returning: change)
        }
    }
}
