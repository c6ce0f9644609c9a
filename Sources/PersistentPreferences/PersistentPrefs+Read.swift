import PrefsFileEngine

/// One state for several reads.
extension PersistentPrefs {
    /// Lets the reads in the body see one state of the root: `let (low, high) = prefs.read { (prefs.low, prefs.high) }`.
    ///
    /// Properties, handles, keys, the subscript and ``values`` of every instance with this root and store see the state
    /// of the beginning, with its layers, whatever other threads and processes write meanwhile. Inside an `update`, they
    /// see the state of the update. Other roots and stores are read as usual. A read inside a read sees the state of the
    /// outer one.
    ///
    /// A write in the body, to any store, is rejected with ``PrefsError/writeInsideRead``, and so is an `update`; a
    /// store of your own rejects only the writes of instances. Such a rejection does not undo an `update` around
    /// the read. Takes no lock, so writers go on, and an asynchronous function needs no `await`. A task that the body
    /// starts is not a part of it.
    ///
    /// Costs the validation of one read. The reads in the body cost a lookup each. If the store cannot be read, each
    /// read in the body reports it, as usual. ``prefsDidFail(_:)`` is called after the body. Any thread.
    /// - Parameter body: makes the reads. Runs once, on the calling thread.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    public func read<R>(_ body: () throws -> R) rethrows -> R {
        let roots = state.roots
        guard let domain = roots.domain, case let root = key, SnapshotRead.current(of: root, in: roots) == nil else {
            return try ThreadState.current.rejectingWrites.run(body)
        }
        let kept = SnapshotRead(of: root, in: roots, domain)
        func begin() {
            if kept.begin(hasFormerRoots: state.hasFormerRoots) { return }
            var first: (view: RootView, hasWarning: Bool)?
            read(root) { view, outcome in first = (view, outcome.warning != nil) }
            kept.begin(with: first?.view, hasWarning: first?.hasWarning == true)
        }
        guard state.bridge.isTracked else { return try kept.rejectingWrites(beginning: begin, body) }
        // What cannot be observed is reported after the body.
        return try ThreadState.current.rejectingWrites.run {
            state.bridge.listen(to: self)
            return try kept.rejectingWrites(beginning: begin, body)
        }
    }
}
