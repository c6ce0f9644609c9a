public import Dispatch
import PrefsFileEngine
import PrefsPropertyLists

/// Observation of one property.
extension PrefHandle {
    /// Calls the closure with the old and the new value after commits that change the property.
    ///
    /// The value is the default if nothing is stored or the stored value cannot be read. A stored value that cannot be
    /// read is reported through ``PersistentPrefs/prefsDidFail(_:)``, once and before a closure is called;
    /// ``PersistentPrefs/lastError`` does not change. If values are `Equatable`, a commit that leaves an equal value is
    /// not reported. The rest, for example when calls are merged, is as for
    /// ``PersistentPrefs/onChange(of:on:_:)-(String...,DispatchQueue?,_)``.
    public func onChange(
        on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        observed.onChange(on: queue, action)
    }

    /// The current value and each new one, as an asynchronous sequence.
    ///
    /// ```swift
    /// for await size in prefs.$fontSize.updates { label.resize(to: size) }
    /// ```
    ///
    /// The sequence keeps the instance alive, its iterators do not.
    public var updates: PrefUpdates<Value> { observed.updates }

    package var observed: ObservedValue<Value> {
        let property = property
        return ObservedValue(prefs: prefs, key: key) { values, root, reportsFailure in
            property.value(in: values, root, reportsFailure)
        }
    }
}

extension PrefProperty {
    /// The value of the property in a root; the default if it is missing or does not fit.
    fileprivate func value(in values: [String: StoredValue], _ root: ObservedRoot, _ reportsFailure: Bool) -> Value {
        let key = binding(in: root.instance).key
        guard let stored = values[key]?.present(as: Value.self) else { return givenDefault }
        do throws(PrefsError) {
            let value = try freshValue(of: stored, in: root.root.roots, root.instance)
            if reportsFailure { root.observers.endFault(ofValue: key, at: nil) }
            return value
        } catch {
            if reportsFailure { root.instance.owner?.report(error, of: .fault(of: key)) }
            return givenDefault
        }
    }
}
