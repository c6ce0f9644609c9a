public import Dispatch

/// Observation of one property.
extension PrefHandle {
    /// Calls the closure with the old and the new value after each commit that changes the property.
    ///
    /// The value is the default if nothing is stored or the stored value cannot be read. If values are `Equatable`, a commit that
    /// leaves an equal value is not reported. Otherwise as ``PersistentPrefs/onChange(of:on:_:)-(String...,DispatchQueue?,_)``.
    public func onChange(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        let property = property
        guard let follower = prefs.follower(of: [key]) else { return PrefsObservation {} }
        return prefs.observation(follower, on: queue) {
            if let (old, new) = property.values(of: $0, follower) { action(old, new) }
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

    /// The current value and each new one, for a subscriber; nil if nothing can be observed. ``PersistentPrefs/lastError`` says
    /// why.
    func demandedValues(_ receive: @escaping (Value) -> Int) -> DemandedChanges<Value>? {
        let property = property
        guard let follower = prefs.follower(of: [key]) else { return nil }
        let changes = DemandedChanges(follower, { property.values(of: $0, follower)?.new }, receive)
        guard let start = prefs.follow(follower, changes) else {
            changes.end()
            return nil
        }
        changes.begin(with: property.value(in: start, follower.state))
        return changes
    }

    private func stream() -> ChangeStream<Value> {
        let property = property
        let follower = prefs.follower(of: [key])
        let stream = ChangeStream(follower) { change in follower.flatMap { property.values(of: change, $0)?.new } }
        guard let follower else { return stream }
        if let start = prefs.follow(follower, stream) {
            stream.begin(with: property.value(in: start, follower.state))
        } else {
            stream.end()
        }
        return stream
    }
}

extension PrefProperty {
    /// The values before and after a change; nil where they are equal.
    fileprivate func values(of pending: PendingChange, _ follower: RootFollower) -> (old: Value, new: Value)? {
        guard let change = follower.change(pending) else { return nil }
        let old = value(in: change.oldValues, follower.state)
        let new = value(in: change.newValues, follower.state)
        return Self.areEqual(old, new) ? nil : (old, new)
    }

    /// The value among those of a root; the default where there is none of the right type.
    fileprivate func value(in values: [String: Any], _ state: InstanceState) -> Value {
        values[binding(in: state).key].flatMap { try? freshValue(of: $0, in: state) } ?? defaultValue(in: state)
    }

    private static func areEqual(_ left: Value, _ right: Value) -> Bool {
        func isEqual<T: Equatable>(_ left: T) -> Bool { left == right as? T }
        return (left as? any Equatable).map { isEqual($0) } ?? false
    }
}
