import PrefsPropertyLists

/// Receives the changes of one entry, in the order of the commits.
package protocol EntrySubscriber: AnyObject, Sendable {
    /// Called under a lock of the feed. It must keep the change and return at once.
    ///
    /// - Returns: an action to run once every lock is released: on the thread that made the change, or on the main
    ///   queue for a foreign change.
    func receive(_ change: EntryChange) -> (@Sendable () -> Void)?

    /// Called if the domain's path now leads to another file. Runs on a queue of the feed, without a lock.
    func pathChanged()

    /// Called if the domain is malformed or cannot be read, once for each reason; with nil when it can be read again.
    /// Runs on a queue of the feed, without a lock, and must return at once.
    func failed(_ error: FileError?)

    /// The object that is told of a fault once, however many subscriptions it has.
    var reader: ObjectIdentifier { get }
}

extension EntrySubscriber {
    package func pathChanged() {}
    package func failed(_ error: FileError?) {}
    package var reader: ObjectIdentifier { ObjectIdentifier(self) }
}

/// The last entry that was reported to a subscriber.
package struct LastKnownEntry: Sendable {
    package let entry: EntryState
    /// Whether another process moved the subscriber to another entry.
    package var isForeign = true

    package init(entry: EntryState) {
        self.entry = entry
    }
}

/// A subscription, with its start value. It ends when the object is released.
package final class EntrySubscription: Sendable {
    /// The entry that the subscriber starts from.
    package let start: EntryState
    /// The result of `receive` for the difference to the entry that the subscriber knew.
    package let catchUp: (@Sendable () -> Void)?
    /// Why changes made elsewhere are not received.
    package let failure: StorageFailure?
    private let onEnd: Locked<(@Sendable () -> LastKnownEntry?)?>

    /// - Parameter onEnd: called once. Returns the last reported entry.
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

    /// Ends the subscription. The subscriber receives no commit from now on.
    ///
    /// - Returns: the last reported entry; nil if the subscription had ended before.
    @discardableResult
    package func end() -> LastKnownEntry? {
        let onEnd = onEnd.withLock { onEnd in
            defer { onEnd = nil }
            return onEnd
        }
        return onEnd?()
    }
}
