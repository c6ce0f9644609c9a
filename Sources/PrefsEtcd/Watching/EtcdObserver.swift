import Dispatch
import PersistentPreferences

/// Calls a closure for each change of a root: in order, one at a time, and on a queue of its own, so that a slow one delays nobody.
final class EtcdObserver: Sendable {
    private struct State {
        /// nil once the observation has ended.
        var action: (@Sendable (PrefsChange) -> Void)?
        var waiting: [(change: PrefsChange, bytes: Int)] = []
    }

    private let queue = DispatchQueue(label: "EtcdStore")
    private let state: Guarded<State>

    /// If more changes or bytes wait, the newest are merged.
    private static let (mostChanges, mostBytes) = (1_024, 8 << 20)

    init(_ action: @escaping @Sendable (PrefsChange) -> Void) {
        state = Guarded(State(action: action))
    }

    /// - Parameter bytes: of the JSON of the root.
    func receive(_ change: PrefsChange, bytes: Int) {
        state.withLock { state in
            let sum = state.waiting.reduce(bytes) { $0 + $1.bytes }
            if let last = state.waiting.last, state.waiting.count >= Self.mostChanges || sum > Self.mostBytes {
                state.waiting.removeLast()
                if let merged = last.change.merged(with: change) { state.waiting.append((merged, bytes)) }
            } else {
                state.waiting.append((change, bytes))
            }
        }
        queue.async {
            let (action, next) = self.state.withLock { state in
                (state.action, state.waiting.isEmpty ? nil : state.waiting.removeFirst().change)
            }
            if let next { action?(next) }
        }
    }

    /// Ends the calls, except one that has begun or is about to begin.
    func end() {
        // Released outside of the lock: what the closure holds may end other observations.
        let last = state.withLock { state in
            defer { (state.action, state.waiting) = (nil, []) }
            return state
        }
        withExtendedLifetime(last) {}
    }
}

extension PrefsChange {
    /// From the state before this change to the one after the next. nil if they are equal.
    fileprivate func merged(with next: PrefsChange) -> PrefsChange? {
        let before = oldValues.merging(next.oldValues.filter { !keys.contains($0.key) }) { old, _ in old }
        let after = next.newValues.merging(newValues.filter { !next.keys.contains($0.key) }) { new, _ in new }
        return PrefsChange(
            root: root, from: before, to: after, origin: origin == .elsewhere ? .elsewhere : next.origin,
            count: count + next.count)
    }
}
