public import Dispatch
import PrefsFileEngine

/// Observation of changes, wherever they are made: by another instance or thread, by another process, by a text editor.
extension PersistentPrefs {
    /// Calls the closure after each commit that changes what ``values`` shows under some of the keys, or under any key if none is
    /// named; see ``PrefsChange``.
    ///
    /// Calls come in the order of the commits, one at a time, on a queue of the observer's own unless one is given. A slow
    /// closure delays no commit and no other observer, as long as there are not hundreds that block their threads at once. The
    /// closure may do anything, also write the same key: an equal value is not a change. The first observer of a root starts
    /// watching its file, the last one stops. Assigning ``key`` is a change of all values that differ; an override has to call the
    /// setter of `super`. The observation does not keep the instance.
    ///
    /// If a key is not allowed, nothing is observed and ``lastError`` says why. ``lastError`` is ``PrefsError/notWatched(_:)`` if
    /// changes made elsewhere are not observed. Cost: some file-system calls; of a change, linear in the number of keys of the
    /// root. Any thread. Mirrors `onChange(of:)` of SwiftUI and `sink` of Combine.
    public func onChange(
        of keys: String..., on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) -> PrefsObservation {
        onChange(of: keys, on: queue, action)
    }

    /// The same with a list of keys; an empty one stands for any key.
    public func onChange(
        of keys: [String], on queue: DispatchQueue? = nil, _ action: @escaping @Sendable (PrefsChange) -> Void
    ) -> PrefsObservation {
        guard let root = observedRoot(of: keys) else { return PrefsObservation {} }
        return observation(of: root, on: queue) { if let change = root.change($0) { action(change) } }
    }

    /// The same as a sequence of changes, from now on: those that happen before it is iterated wait, too. It ends when its task is
    /// cancelled, and with the last reference to it. The sequence, unlike its iterator, keeps the instance: do not store it in a
    /// property of the instance.
    ///
    /// ```swift
    /// for await change in prefs.changes(of: "theme") { apply(change.newValues) }
    /// ```
    public func changes(of keys: String...) -> PrefsChanges {
        changes(of: keys)
    }

    /// The same with a list of keys; an empty one stands for any key.
    public func changes(of keys: [String]) -> PrefsChanges {
        PrefsChanges {
            let root = self.observedRoot(of: keys)
            let stream = ChangeStream { root?.change($0) }
            if let root, let subscription = self.subscribe(to: root, stream.receive) {
                stream.begin(subscription)
            } else {
                stream.end()
            }
            return stream
        }
    }

    /// The changes from now on, for a subscriber; nil if the keys are rejected or nothing can be observed. ``lastError`` says
    /// why.
    func demandedChanges(
        of keys: [String], _ receive: @escaping (PrefsChange) -> Int
    ) -> DemandedChanges<PrefsChange>? {
        guard let root = observedRoot(of: keys) else { return nil }
        let changes = DemandedChanges({ root.change($0) }, receive)
        guard let subscription = subscribe(to: root, changes.receive) else { return nil }
        changes.begin(subscription)
        return changes
    }

    // MARK: - What every form has in common

    /// nil if the keys or the root key are rejected; ``lastError`` says why.
    func observedRoot(of keys: [String]) -> ObservedRoot? {
        do {
            let root = key
            try NameVetting.checkRoot(root)
            let allowed = allowedKeys
            let unknown = Set(keys).filter { !allowed.contains($0) }
            guard unknown.isEmpty else { throw PrefsError.incorrectKeys(invalidElements: unknown.sorted()) }
            return ObservedRoot(of: self, key: root, allowed: allowed, keys: keys.isEmpty ? nil : Set(keys))
        } catch {
            report(PrefsError(error))
            return nil
        }
    }

    /// - Returns: nil if nothing can be observed; ``lastError`` says why.
    func subscribe(to root: ObservedRoot, _ receiver: @escaping PendingChangeReceiver) -> EntrySubscription? {
        do {
            let subscription = try RootSubscriber(root, receiver).start()
            report(subscription.failure.map(PrefsError.notWatched))
            return subscription
        } catch {
            report(PrefsError(error))
            return nil
        }
    }

    func observation(
        of root: ObservedRoot, on queue: DispatchQueue?, _ deliver: @escaping @Sendable (PendingChange) -> Void
    ) -> PrefsObservation {
        let observer = CallbackObserver(on: queue, deliver)
        guard let subscription = subscribe(to: root, observer.receive) else { return PrefsObservation {} }
        return PrefsObservation {
            subscription.end()
            observer.end()
        }
    }
}
