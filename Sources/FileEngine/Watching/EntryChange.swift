package import PrefsPropertyLists

/// A committed change of one entry of a domain.
package struct EntryChange: @unchecked Sendable {
    package let key: String
    package let before: Any?
    package let after: Any?
    /// Of the two as dictionaries; an entry that is none, or missing, counts as an empty one.
    package let difference: DictionaryDifference
    /// Whether it was made by another process, or by other code than ours.
    package let isForeign: Bool

    /// nil where nothing has changed.
    package init?(of key: String, from before: Any?, to after: Any?, isForeign: Bool) {
        switch (before, after) {
        case (nil, nil): return nil
        case (let before?, let after?) where CanonicalValue.areIdentical(before, after): return nil
        default: break
        }
        self.key = key
        self.before = before
        self.after = after
        self.isForeign = isForeign
        difference = DictionaryDifference(from: before as? [String: Any] ?? [:], to: after as? [String: Any] ?? [:])
        if difference.isEmpty, let before, let after, CanonicalValue.areEqual(before, after) { return nil }
    }
}

/// Hears of the changes of one entry, in the order of the commits.
package protocol EntryListener: AnyObject, Sendable {
    /// Called under a lock of the feed: it keeps what it needs and returns at once.
    ///
    /// - Returns: what is to be done once every lock is released: on the thread that made the change, and for a foreign one
    ///   on the main queue.
    func note(_ change: EntryChange) -> (@Sendable () -> Void)?

    /// The domain has found that it is no longer what its path leads to. Called on a queue of the feed, without a lock.
    func placeChanged()
}

extension EntryListener {
    package func placeChanged() {}
}

/// A listener's way to a feed. Ends with the object.
package protocol Following: AnyObject, Sendable {
    var subscriptionStart: ChangeFeed.SubscriptionStart { get }
    /// Nothing is known any more.
    ///
    /// - Returns: the entry as the listener has known of it; nil where it has ended before.
    @discardableResult func end() -> LastKnownEntry?
}

/// An entry as a listener knows it; nil where there is none.
package struct LastKnownEntry: @unchecked Sendable {
    package let entry: Any?
    /// Whether others have brought the listener somewhere else.
    package var isForeign = true

    package init(entry: Any?) {
        self.entry = entry
    }
}
