import PrefsFileEngine

/// A value during a change in place.
///
/// If the read failed, the changed default does not replace the stored value.
struct InPlaceChange<Origin, Value> {
    /// Where the value is read and stored.
    var origin: Origin
    /// The current value, or the default if the read failed.
    var value: Value
    /// The warning of a read that succeeded.
    var warning: PrefsError?
    /// Why the value could not be read.
    var failure: PrefsError?

    /// The value to store.
    ///
    /// - Throws: the failure of the read.
    func newValue() throws(PrefsError) -> Value {
        if let failure { throw failure }
        return value
    }
}

/// A root, and the revision in which it was read.
typealias RootOrigin = (root: String, revision: Revision?)

extension PersistentPrefs {
    /// Starts a change in place. The outcome of the read is reported with that of the change.
    func changeInPlace<Value>(
        from defaultValue: Value, _ read: (inout PrefsAccess) throws -> Value
    ) -> InPlaceChange<RootOrigin, Value> {
        var change = InPlaceChange(origin: (root: key, revision: nil as Revision?), value: defaultValue)
        do {
            var access = try access(root: change.origin.root)
            defer { (change.warning, change.origin.revision) = (access.warning, access.revision) }
            change.value = try read(&access)
            // A value of layers must not replace a stored one that was passed over.
            if access.hasPassedOverBase { change.failure = access.warning }
        } catch {
            change.failure = PrefsError(error)
        }
        return change
    }

    func commit<Value>(
        _ change: InPlaceChange<RootOrigin, Value>, _ store: (Value, inout PrefsAccess) throws -> Void
    ) {
        write(to: change.origin.root) {
            ($0.warning, $0.revision) = (change.warning, change.origin.revision)
            try store(change.newValue(), &$0)
        }
    }
}
