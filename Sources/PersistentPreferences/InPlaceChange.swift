import PrefsFileEngine

/// A value on its way through a change in place.
///
/// What could not be read is not replaced by what was made of the default.
struct InPlaceChange<Origin, Value> {
    /// Where the value is read and stored.
    var origin: Origin
    /// The value of now, or the default if it could not be read.
    var value: Value
    /// What the read met although it succeeded.
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
