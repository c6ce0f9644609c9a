import PrefsPropertyLists

/// Receives the changes of one entry, in the order of the commits.
package protocol EntrySubscriber: AnyObject, Sendable {
    /// Called under a lock of the feed: keeps what it needs and returns at once.
    ///
    /// - Returns: what is to be done once every lock is released: on the thread that made the change, and for a foreign one
    ///   on the main queue.
    func receive(_ change: EntryChange) -> (@Sendable () -> Void)?

    /// Called if the domain's path leads to another file now; on a queue of the feed, without a lock.
    func pathChanged()
}

extension EntrySubscriber {
    package func pathChanged() {}
}

/// An entry as it was last reported to its subscriber.
package struct LastKnownEntry: Sendable {
    package let entry: EntryState
    /// Whether another process moved the subscriber to another entry.
    package var isForeign = true

    package init(entry: EntryState) {
        self.entry = entry
    }
}

/// The start value of a subscriber, and the end of its subscription. Ends with the object.
package final class EntrySubscription: Sendable {
    /// The entry that the subscriber starts from.
    package let start: EntryState
    /// The result of `receive` for the difference to the entry that the subscriber knew.
    package let catchUp: (@Sendable () -> Void)?
    /// Why changes made elsewhere are not received.
    package let failure: StorageFailure?
    private let onEnd: Locked<(@Sendable () -> LastKnownEntry?)?>

    /// - Parameter onEnd: called once. Returns the entry as it was last reported.
    package init(
        start: EntryState, catchUp: (@Sendable () -> Void)? = nil, failure: StorageFailure? = nil,
        onEnd: @escaping @Sendable () -> LastKnownEntry?
    ) {
        self.start = start
        self.catchUp = catchUp
        self.failure = failure
        self.onEnd = Locked(onEnd)
    }

    deinit {
        end()
    }

    /// The subscriber receives no commit from now on.
    ///
    /// - Returns: the entry as it was last reported; nil if the subscription has ended before.
    @discardableResult
    package func end() -> LastKnownEntry? {
        let onEnd = onEnd.withLock { onEnd in
            defer { onEnd = nil }
            return onEnd
        }
        return onEnd?()
    }
}
