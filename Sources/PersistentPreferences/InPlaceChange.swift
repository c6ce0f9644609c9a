import PrefsFileEngine

/// A value during a change in place.
///
/// If the read failed, the changed default does not replace the stored value.
package struct InPlaceChange<Origin, Value> {
    /// The place where the value is read and stored.
    package var origin: Origin
    /// The current value, or the default if the read failed.
    package var value: Value
    /// The warning of a read that succeeded.
    package var warning: PrefsError?
    /// Why the value could not be read.
    package var failure: PrefsError?

    package init(origin: Origin, value: Value, failure: PrefsError? = nil) {
        (self.origin, self.value, self.failure) = (origin, value, failure)
    }

    /// The value to store.
    ///
    /// - Throws: the failure of the read.
    package func newValue() throws(PrefsError) -> Value {
        if let failure { throw failure }
        return value
    }
}

/// A root, and the revision in which it was read.
typealias RootOrigin = (root: String, revision: Revision?)

extension PersistentPrefs {
    /// Starts a change in place. The outcome of the read is reported with the outcome of the change.
    ///
    /// - Parameter name: the key of the only value that is read; nil for all.
    func changeInPlace<Value>(
        from defaultValue: Value, of name: String? = nil, _ read: (RootView, inout AccessOutcome) throws -> Value
    ) -> InPlaceChange<RootOrigin, Value> {
        var change = InPlaceChange(origin: (root: key, revision: nil as Revision?), value: defaultValue)
        var outcome = AccessOutcome(of: state)
        do {
            let view = try Root(change.origin.root, of: state).view(of: name, isForWriting: true, &outcome)
            change.origin.revision = view.revision
            change.value = try read(view, &outcome)
            // A value of layers must not replace a stored one that was passed over.
            if outcome.hasPassedOverBase { change.failure = outcome.warning }
        } catch {
            change.failure = PrefsError(error)
        }
        change.warning = outcome.warning
        return change
    }

    func commit<Value>(
        _ change: InPlaceChange<RootOrigin, Value>, _ store: (Value, Root, inout AccessOutcome) throws -> Void
    ) {
        write(to: change.origin.root, after: change.warning) { try store(change.newValue(), $0, &$1) }
    }
}
