public import Dispatch
package import PrefsFileEngine

/// Observation of changes that are made by another instance, thread or process, or by a text editor.
extension PersistentPrefs {
    /// Calls the closure after commits that change the value of one of the keys, or of any key if you name none.
    ///
    /// ```swift
    /// let observation = prefs.onChange(of: "theme") { change in print(change.newValues) }
    /// ```
    ///
    /// Each commit is one call, in the order of the commits, unless the closure falls behind: then the newest changes
    /// are merged; see ``PrefsChange``. The calls come one at a time, on the given queue or on one of eight threads
    /// that all observers without a queue share. A slow closure delays no commit, no read and no queue of the program.
    /// While eight closures without a queue block, the others without a queue wait, so pass a queue if a closure may
    /// block. The closure may read, write and cancel. Assigning ``key`` reports the differences of the two roots; an
    /// override must call the setter of `super`. The observation does not keep the instance alive.
    ///
    /// Costs some file-system calls at the start, because the first observer of a root starts to watch its file, and
    /// for each change time linear in the number of keys of the root. If a key is not allowed, ``lastError`` reports it
    /// and nothing is observed. ``lastError`` is ``PrefsError/notWatched(_:)`` if changes of other processes cannot be
    /// observed. Any thread. Mirrors `onChange(of:)` of SwiftUI and `sink` of Combine.
    public func onChange(
        of keys: String..., on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) -> PrefsObservation {
        onChange(of: keys, on: queue, action)
    }

    /// Observes the keys in an array; an empty array stands for all keys.
    package func onChange(
        of keys: [String], on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) -> PrefsObservation {
        guard let root = observedRoot(of: keys) else { return PrefsObservation(ending: {}) }
        return observation(of: root, on: queue) { root.change($0).map { change in { action(change) } } }
    }

    /// Returns the changes of some keys, or of all if you name none, as an asynchronous sequence that starts now.
    ///
    /// ```swift
    /// for await change in prefs.changes(of: "theme") { apply(change.newValues) }
    /// ```
    ///
    /// Changes wait until they are read; too many are merged, see ``PrefsChange``. The sequence ends when its task is
    /// cancelled, and with the last reference to it. It keeps the instance alive, so do not store it in a property of
    /// the instance; its iterators do not.
    public func changes(of keys: String...) -> PrefUpdates<PrefsChange> {
        changes(of: keys)
    }

    /// Observes the keys in an array; an empty array stands for all keys.
    package func changes(of keys: [String]) -> PrefUpdates<PrefsChange> {
        PrefUpdates {
            let root = self.observedRoot(of: keys)
            let stream = ChangeStream { root?.change($0) }
            if let root, let subscription = self.subscribe(to: root, stream.delivery) {
                stream.begin(subscription)
            } else {
                stream.end()
            }
            return stream
        }
    }

    /// Delivers the changes from now on to a subscriber. Returns nil if the keys are rejected or nothing can be
    /// observed; ``lastError`` says why.
    ///
    /// - Parameters:
    ///   - queue: the queue of the mailbox.
    ///   - receive: called with each change. Returns by how much the demand grows.
    package func demandedChanges(
        of keys: [String], on queue: DispatchQueue? = nil, _ receive: @escaping (PrefsChange) -> Int
    ) -> Mailbox? {
        guard let root = observedRoot(of: keys) else { return nil }
        let changes = Mailbox(on: queue) { root.change($0).map { change in { receive(change) } } }
        guard let subscription = subscribe(to: root, changes.delivery) else { return nil }
        changes.begin(subscription)
        return changes
    }

    /// Runs a closure around each announcement of a change from now on. The last closure counts.
    ///
    /// - Parameter around: called right after a commit, on the thread that made it; on the main queue if it was made elsewhere.
    ///   It must call its second argument, which tells the Observation framework.
    package func announceChanges(
        within around: @escaping @Sendable (_ change: EntryChange, _ announce: () -> Void) -> Void
    ) {
        state.bridge.announce(to: self, within: around)
    }

    /// Runs a closure whose reads of this instance see another state than the stored one. Their errors are not reported.
    package func reading<R>(_ entry: EntryState, _ body: () throws -> R) rethrows -> R {
        try PreviousStateRead(entry, of: state).asCurrent(body)
    }

    // MARK: - What every form has in common

    /// - Parameter prepare: the call of the closure for a change; nil leaves the change out.
    func observation(
        of root: ObservedRoot, on queue: DispatchQueue?,
        _ prepare: @escaping @Sendable (EntryChange) -> (() -> Void)?
    ) -> PrefsObservation {
        let mailbox = Mailbox(on: queue, demand: Mailbox.unlimited) { change in
            root.inItsStore { prepare(change) }.map { call in
                {
                    root.inItsStore(call)
                    return 0
                }
            }
        }
        guard let subscription = subscribe(to: root, mailbox.delivery) else { return PrefsObservation(ending: {}) }
        mailbox.begin(subscription)
        return PrefsObservation(ending: { mailbox.end() })
    }
}
