@testable import PersistentPreferences
@testable import PrefsFileEngine

extension PersistentPrefs {
    /// For another instance on the store of this one.
    var ownStore: any PrefsStore { state.roots }
}

extension InMemoryStore {
    /// Whether anybody observes a root.
    var isFollowed: Bool { (try? ownRoots.reached() as? MemoryDomain)?.queue.feed.hasSubscribers == true }
}
