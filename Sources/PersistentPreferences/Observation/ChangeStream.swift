import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// A stream of changes that a task requests one at a time and waits for. The owner must end it; a `StreamHandle` does.
package final class ChangeStream<Element>: Sendable {
    private let mailbox: Mailbox
    private let state: Locked<State>

    private typealias Continuation = CheckedContinuation<EntryChange?, Never>

    private struct State {
        var first: Element?
        /// The waiting tasks. Each has demanded one change.
        var tasks: [Continuation] = []
        /// nil once the stream has ended.
        var element: ((EntryChange) -> Element?)?
    }

    /// - Parameter element: makes an element of a change; nil leaves the change out.
    package init(_ element: @escaping (EntryChange) -> Element?) {
        let state = Locked(State(element: element))
        self.state = state
        // Uses its own queue, because resuming a task runs the code of its executor.
        mailbox = Mailbox(on: DispatchQueue(label: "PersistentPreferences.sequence")) { change in
            {
                let task = state.withLock { $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() }
                task?.resume(returning: change)
                return 0
            }
        }
    }

    /// Keeps the subscription until the end. Called once, before the first call of `next`.
    ///
    /// - Parameter first: comes before all changes.
    package func begin(_ subscription: EntrySubscription, with first: Element? = nil) {
        mailbox.begin(subscription)
        state.withLock { $0.first = first }
    }

    package var delivery: EntryObserver.Delivery { mailbox.delivery }

    package func end() {
        mailbox.end()
        let last = state.withLock { state in
            defer { state = State() }
            return state
        }
        for task in last.tasks { task.resume(returning: nil) }
    }

    /// The next element; nil if the stream has ended. Cancelling the task ends the stream.
    package func next(isolation: isolated (any Actor)?) async -> Element? {
        if Task.isCancelled { end() }
        let first = state.withLock { state in
            defer { state.first = nil }
            return state.first
        }
        if let first { return first }
        while let change = await nextChange(isolation: isolation) {
            guard let element = state.withLock({ $0.element }) else { return nil }
            if let element = element(change) { return element }
        }
        return nil
    }

    private func nextChange(isolation: isolated (any Actor)?) async -> EntryChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { task in
                let isOver = state.withLock { state in
                    guard state.element != nil else { return true }
                    state.tasks.append(task)
                    return false
                }
                if isOver { task.resume(returning: nil) } else { mailbox.request(1) }
            }
        } onCancel: {
            end()
        }
    }
}
