public import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// Observation of one property.
extension PrefHandle {
    /// Calls the closure with the old and the new value after commits that change the property.
    ///
    /// The value is the default if nothing is stored or the stored value cannot be read. A stored value that cannot be
    /// read is reported through ``PersistentPrefs/prefsDidFail(_:)``, by each observer before its closure is called;
    /// ``PersistentPrefs/lastError`` does not change. If values are `Equatable`, a commit that leaves an equal value is
    /// not reported. The rest, for example when calls are merged, is as for
    /// ``PersistentPrefs/onChange(of:on:_:)-(String...,DispatchQueue?,_)``.
    public func onChange(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        let property = property
        guard let root = prefs.observedRoot(of: [key]) else { return PrefsObservation {} }
        return prefs.observation(of: root, on: queue) {
            if let (old, new) = property.values(of: $0, in: root) { action(old, new) }
        }
    }

    /// The current value and each new one, as an asynchronous sequence.
    ///
    /// ```swift
    /// for await size in prefs.$fontSize.updates { label.resize(to: size) }
    /// ```
    ///
    /// The sequence keeps the instance alive, its iterators do not.
    public var updates: PrefUpdates<Value> {
        let (prefs, property) = (prefs, property)
        return PrefUpdates { PrefHandle(prefs: prefs, property: property).stream() }
    }

    /// Delivers the current value and each new one to a subscriber. Returns nil if nothing can be observed;
    /// ``PersistentPrefs/lastError`` says why. For the parameters, see `demandedChanges`.
    func demandedValues(on queue: DispatchQueue? = nil, _ receive: @escaping (Value) -> Int) -> Mailbox<Value>? {
        let property = property
        guard let root = prefs.observedRoot(of: [key]) else { return nil }
        let changes = Mailbox(on: queue, { property.values(of: $0, in: root)?.new }, receive)
        guard let subscription = prefs.subscribe(to: root, changes.receive) else { return nil }
        changes.begin(subscription, with: property.value(at: subscription, in: root))
        return changes
    }

    private func stream() -> ChangeStream<Value> {
        let property = property
        let root = prefs.observedRoot(of: [key])
        let stream = ChangeStream { change in root.flatMap { property.values(of: change, in: $0)?.new } }
        if let root, let subscription = prefs.subscribe(to: root, stream.receive) {
            stream.begin(subscription, with: property.value(at: subscription, in: root))
        } else {
            stream.end()
        }
        return stream
    }
}

extension PrefProperty {
    /// The values before and after a change; nil if they are equal.
    fileprivate func values(of pending: PendingChange, in root: ObservedRoot) -> (old: Value, new: Value)? {
        guard let change = root.change(pending) else { return nil }
        let new = value(in: change.difference.new, root, reportsFailure: true)
        // A failure to read the former value was reported when that value was new.
        let old = value(in: change.difference.old, root)
        return EqualValues.areEqual(old, new) ? nil : (old, new)
    }

    /// The value that a subscription starts from.
    fileprivate func value(at subscription: EntrySubscription, in root: ObservedRoot) -> Value {
        value(in: root.values(at: subscription), root, reportsFailure: true)
    }

    /// The value of the property in a root; the default if it is missing or does not fit.
    private func value(in values: [String: StoredValue], _ root: ObservedRoot, reportsFailure: Bool = false) -> Value {
        guard let stored = values[binding(in: root.state).key] else { return givenDefault }
        do throws(PrefsError) {
            return try freshValue(of: stored, as: root.root.roots.form, in: root.state)
        } catch {
            if reportsFailure { root.state.owner?.notify(of: error) }
            return givenDefault
        }
    }
}
