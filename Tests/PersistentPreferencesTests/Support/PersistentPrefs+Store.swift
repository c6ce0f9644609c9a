@testable import PersistentPreferences
@testable import PrefsFileEngine

extension PersistentPrefs {
    /// The store of this instance, for another instance.
    var ownStore: any PrefsStore { state.roots }
}

extension InMemoryStore {
    /// Whether a root has observers.
    var isFollowed: Bool { (try? ownRoots.reached() as? MemoryDomain)?.queue.feed.hasSubscribers == true }
}
