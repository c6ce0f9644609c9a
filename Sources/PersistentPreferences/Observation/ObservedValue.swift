package import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// The value of one key for its observers: of a property, or of a setting that is computed from the key.
///
/// Observations do not keep the instance alive.
package struct ObservedValue<Value>: Sendable {
    package let prefs: PersistentPrefs
    let key: String
    /// Finds the value in the visible values of a root; the default if it does not fit, which is then reported.
    let read: @Sendable (_ values: [String: StoredValue], ObservedRoot, _ reportsFailure: Bool) -> Value

    /// A value that the closure computes by reading the instance, which reads an earlier state meanwhile. Failures of
    /// this value are reported, and not failures inside the closure.
    package func computing<Result>(_ body: @escaping @Sendable () -> Result) -> ObservedValue<Result> {
        let read = read
        return ObservedValue<Result>(prefs: prefs, key: key) { values, root, reportsFailure in
            if reportsFailure { _ = read(values, root, true) }
            return PreviousStateRead(values, of: root.instance).asCurrent(body)
        }
    }

    package func onChange(
        on queue: DispatchQueue?, _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        let read = read
        guard let root = prefs.observedRoot(of: [key]) else { return PrefsObservation(ending: {}) }
        return prefs.observation(of: root, on: queue) { change in
            Self.values(of: change, in: root, read).map { values in { action(values.old, values.new) } }
        }
    }

    package var updates: PrefUpdates<Value> { PrefUpdates { stream() } }

    /// The current value and each new one. Ends at once if nothing can be observed; the reason is reported.
    private func stream() -> ChangeStream<Value> {
        let read = read
        let root = prefs.observedRoot(of: [key])
        let stream = ChangeStream { change in root.flatMap { Self.values(of: change, in: $0, read)?.new } }
        if let root, let subscription = prefs.subscribe(to: root, stream.delivery) {
            stream.begin(subscription, with: read(root.values(at: subscription), root, true))
        } else {
            stream.end()
        }
        return stream
    }

    /// Delivers the current value and each new one to a subscriber. Returns nil if nothing can be observed;
    /// ``PersistentPrefs/lastError`` says why. For the parameters, see `demandedChanges`.
    package func demanded(on queue: DispatchQueue? = nil, _ receive: @escaping (Value) -> Int) -> Mailbox? {
        let read = read
        guard let root = prefs.observedRoot(of: [key]) else { return nil }
        let changes = Mailbox(on: queue) { change in
            Self.values(of: change, in: root, read).map { values in { receive(values.new) } }
        }
        guard let subscription = prefs.subscribe(to: root, changes.delivery) else { return nil }
        let first = read(root.values(at: subscription), root, true)
        changes.begin(subscription) { receive(first) }
        return changes
    }

    /// The values before and after a change; nil if they are equal.
    private static func values(
        of change: EntryChange, in root: ObservedRoot,
        _ read: @Sendable ([String: StoredValue], ObservedRoot, Bool) -> Value
    ) -> (old: Value, new: Value)? {
        guard let change = root.change(change) else { return nil }
        let new = read(change.difference.new, root, true)
        // A failure to read the former value was reported when that value was new.
        let old = read(change.difference.old, root, false)
        return areEqual(old, new) ? nil : (old, new)
    }

    /// False also if the values cannot be compared.
    private static func areEqual(_ left: Value, _ right: Value) -> Bool {
        func isEqual<T: Equatable>(_ left: T) -> Bool { left == right as? T }
        return (left as? any Equatable).map { isEqual($0) } ?? false
    }
}
