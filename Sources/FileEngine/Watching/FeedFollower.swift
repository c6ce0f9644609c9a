/// A listener at the feed of one domain.
final class FeedFollower: Following {
    let seat: ChangeFeed.Seat
    private let domain: TransactionQueue
    private let key: String
    private let listener: any EntryListener

    init(_ domain: TransactionQueue, _ key: String, _ listener: any EntryListener, from heard: HeardEntry?) throws {
        self.domain = domain
        self.key = key
        self.listener = listener
        seat = try domain.feed.add(listener, to: key, from: heard)
    }

    deinit {
        end()
    }

    @discardableResult
    func end() -> HeardEntry? {
        domain.feed.remove(listener, from: key)
    }
}
