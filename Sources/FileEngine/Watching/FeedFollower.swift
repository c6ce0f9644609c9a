/// A listener at the feed of one domain.
final class FeedFollower: Following {
    let subscriptionStart: ChangeFeed.SubscriptionStart
    private let domain: TransactionQueue
    private let key: String
    private let listener: any EntryListener

    init(_ domain: TransactionQueue, _ key: String, _ listener: any EntryListener, from known: LastKnownEntry?) throws {
        self.domain = domain
        self.key = key
        self.listener = listener
        subscriptionStart = try domain.feed.add(listener, to: key, from: known)
    }

    deinit {
        end()
    }

    @discardableResult
    func end() -> LastKnownEntry? {
        domain.feed.remove(listener, from: key)
    }
}
