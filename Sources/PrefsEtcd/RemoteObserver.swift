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

/// Passes the states of a root on to an observer.
package final class RemoteObserver: Sendable {
    private let root: String
    private let observer: EntryObserver
    private let state = Locked(State())

    private struct State {
        var start: RootValues?
        var catchUp: EntryObserver.Action?
        var last: RootValues?
    }

    package init(of root: String, _ observer: EntryObserver) {
        (self.root, self.observer) = (root, observer)
    }

    /// The last values that were reported.
    package var last: RootValues? { state.withLock { $0.last } }

    /// The subscription of the observer, which has begun.
    func subscription(onEnd: @escaping @Sendable () -> Void) -> EntrySubscription {
        let (start, catchUp) = state.withLock { ($0.start, $0.catchUp) }
        return EntrySubscription(
            of: observer, start: EntryState(start.map(StoredValue.dictionary)), catchUp: catchUp, onEnd: onEnd)
    }

    /// The values that the observer starts with. Called once, before `receive`, and under the lock of the store as well.
    package func begin(with values: RootValues?) {
        state.withLock { state in
            (state.last, state.start) = (values, values)
            state.catchUp = observer.begin(at: values.map(StoredValue.dictionary), of: root)
        }
    }

    /// The next values, which may equal the last ones. Called in order, under a lock of the store.
    package func receive(_ values: RootValues?, isForeign: Bool) {
        let action = state.withLock { state in
            state.last = values
            return observer.put(values.map(StoredValue.dictionary), of: root, isForeign: isForeign)
        }
        // Not before the store has left its lock.
        if let action { DispatchReadiness.shared.async(on: .global(), action) }
    }
}
