import PrefsFileEngine
import PrefsPropertyLists

/// An instance, as its observers see it.
protocol ObservedInstance: RootOwner {
    var observers: InstanceObservers { get }
    /// Whether another program is saving the file, so that reads return the last known state.
    var isFileBeingSaved: Bool { get }
    func problems(waits: Bool) -> [PrefsProblem]
}

extension ObservedInstance {
    /// The observed part of the root; nil if the keys or the root key are rejected. ``lastError`` says why.
    func observedRoot(of keys: [String]) -> ObservedRoot? {
        do {
            let root = try Root(key, of: observers)
            let allowed = self.allowed
            let unknown = Set(keys).filter { !allowed.contains($0) }
            guard unknown.isEmpty else { throw PrefsError.incorrectKeys(Array(unknown), among: allowed.list) }
            return ObservedRoot(root, of: observers, allowed: allowed, keys: keys.isEmpty ? nil : Set(keys))
        } catch {
            report(PrefsError(error), of: .write)
            return nil
        }
    }

    /// - Returns: nil if nothing can be observed; ``lastError`` says why.
    func subscribe(to root: ObservedRoot, _ delivery: EntryObserver.Delivery) -> EntrySubscription? {
        do {
            let subscription = try RootSubscriber(root, delivery).start()
            report(subscription.failure.map(PrefsError.notWatched), of: .write)
            return subscription
        } catch {
            report(PrefsError(error), of: .write)
            return nil
        }
    }
}
