import PrefsFileEngine

/// A value during a change in place.
///
/// If the read failed, the changed default does not replace the stored value.
struct InPlaceChange<Value> {
    let root: String
    /// The durability of the state in which the root was read.
    var durability = CommitDurability.notStored
    /// The current value, or the default if the read failed.
    var value: Value
    /// What the read has met.
    var outcome = AccessOutcome()
    /// Why the value could not be read.
    var failure: PrefsError?
}

extension PersistentPrefs {
    /// Starts a change in place. The outcome of the read is reported with the outcome of the change.
    ///
    /// - Parameter name: the key of the only value that is read; nil for all.
    func changeInPlace<Value>(
        from defaultValue: Value, of name: String? = nil, _ read: (RootView, inout AccessOutcome) throws -> Value
    ) -> InPlaceChange<Value> {
        var change = InPlaceChange(root: key, value: defaultValue)
        do {
            let view = try Root(change.root, of: state).view(of: name, isForWriting: true, &change.outcome)
            change.durability = view.durability
            change.value = try read(view, &change.outcome)
            // A value of layers must not replace a stored one that was passed over.
            if change.outcome.hasPassedOverBase { change.failure = change.outcome.warning }
        } catch {
            change.failure = PrefsError(error)
        }
        return change
    }

    func commit<Value>(
        _ change: InPlaceChange<Value>, _ store: (Value, Root, inout AccessOutcome) throws -> Void
    ) {
        write(to: change.root, after: change.outcome) {
            if let failure = change.failure { throw failure }
            try store(change.value, $0, &$1)
        }
    }
}
