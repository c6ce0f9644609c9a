/// A listener at the feed of one domain.
package final class FeedFollower: Following {
    package let subscriptionStart: ChangeFeed.SubscriptionStart
    private let domain: any TransactionDomain
    private let key: String
    private let listener: any EntryListener

    package init(
        _ domain: any TransactionDomain, _ key: String, _ listener: any EntryListener, from known: LastKnownEntry?
    ) throws {
        self.domain = domain
        self.key = key
        self.listener = listener
        subscriptionStart = try domain.queue.feed.add(listener, to: key, from: known)
    }

    deinit {
        end()
    }

    @discardableResult
    package func end() -> LastKnownEntry? {
        domain.queue.feed.remove(listener, from: key)
    }
}
