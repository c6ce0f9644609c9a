import Dispatch
package import PersistentPreferences
package import PrefsFileEngine

/// The values of a root.
package typealias RootValues = [String: StoredValue]

/// A root that an update changes. nil is a missing root.
package struct RemoteChange {
    package let root: String
    /// Also nil for a root that is not a dictionary.
    package let before: RootValues?
    package let after: RootValues?

    /// The keys that differ.
    package var keys: [String] { DictionaryDifference(from: before ?? [:], to: after ?? [:]).keys.sorted() }
}

/// Passes the states of a root on to a subscriber.
package final class RemoteObserver: Sendable {
    private let root: String
    private let subscriber: any EntrySubscriber
    private let state: Locked<State>

    private struct State {
        /// The root as the subscriber knew it.
        let known: LastKnownEntry?
        var start = EntryState(nil)
        var catchUp: (@Sendable () -> Void)?
        var last: RootValues?
    }

    package init(of root: String, _ subscriber: any EntrySubscriber, from known: LastKnownEntry? = nil) {
        self.root = root
        self.subscriber = subscriber
        state = Locked(State(known: known))
    }

    var start: EntryState { state.withLock { $0.start } }
    var catchUp: (@Sendable () -> Void)? { state.withLock { $0.catchUp } }

    /// The last values that were reported.
    package var last: RootValues? { state.withLock { $0.last } }

    /// The values that the subscriber starts with. Called once, before `receive`, and under the lock of the store as well.
    package func begin(with values: RootValues?) {
        state.withLock { state in
            (state.last, state.start) = (values, EntryState(values.map(StoredValue.dictionary)))
            state.catchUp = EntryChange(of: root, from: state.known, to: state.start).flatMap(subscriber.receive)
        }
    }

    /// The next values, which may equal the last ones. Called in order, under a lock of the store.
    package func receive(_ values: RootValues?, isForeign: Bool) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            let change = EntryChange(
                of: root, from: state.last.map(StoredValue.dictionary), to: values.map(StoredValue.dictionary),
                isForeign: isForeign)
            guard let change else { return nil }
            state.last = change.after.value?.dictionary
            return subscriber.receive(change)
        }
        // Not before the store has left its lock.
        if let action { DispatchReadiness.shared.async(on: isForeign ? .main : .global(), action) }
    }
}
