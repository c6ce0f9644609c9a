package import PrefsPropertyLists

/// A committed change of one entry of a domain, or several that a slow observer receives as one.
package struct EntryChange: Sendable {
    /// The entry; after a move of the observer to another entry, the new one.
    package var key: String
    package private(set) var before: EntryState
    /// Shares unchanged values with `before`, so that a waiting change takes little memory.
    package private(set) var after: EntryState
    /// The members that differ. Of merged changes, all members of each.
    package private(set) var difference: DictionaryDifference
    /// Whether another process, or other code of this process, made the change or a part of it.
    package private(set) var isForeign: Bool
    /// The number of merged changes.
    package private(set) var count = 1
    /// The form that the first subscriber has computed from the change, for subscribers that compute the same form.
    package private(set) var shared = Locked<(any Sendable)?>(nil)
    /// The size in memory that it adds to the change before it, estimated from its values.
    package private(set) var bytes: Int

    /// Creates a change between two states; nil if they are equal.
    ///
    /// - Parameter isNew: whether the second state was read or made anew, so that it shares no values with the first one;
    ///   nil if a foreign change is.
    package init?(
        of key: String, from before: EntryState, to after: EntryState, isForeign: Bool, isNew: Bool? = nil
    ) {
        let isSameEntry = before.context === after.context
        switch (before.value, after.value) {
        case (nil, nil) where isSameEntry: return nil
        case (let before?, let after?) where isSameEntry && before.isIdentical(to: after): return nil
        default: break
        }
        self.key = key
        self.before = before
        self.isForeign = isForeign
        difference = DictionaryDifference(from: before.members, to: after.members)
        if isNew ?? isForeign, case .dictionary(let members)? = before.value, after.value?.dictionary != nil {
            self.after = EntryState(.dictionary(difference.applied(to: members)), in: after.context)
        } else {
            self.after = after
        }
        bytes = Self.bytes(of: difference, to: after)
        if isSameEntry, difference.isEmpty, before.value == after.value { return nil }
    }

    /// Creates a change of an entry without a context.
    @inline(never) package init?(
        of key: String, from before: StoredValue?, to after: StoredValue?, isForeign: Bool, isNew: Bool? = nil
    ) {
        self.init(of: key, from: EntryState(before), to: EntryState(after), isForeign: isForeign, isNew: isNew)
    }

    /// Creates the change from the entry that a subscriber knows to the entry that it starts from.
    package init?(of key: String, from known: LastKnownEntry?, to start: EntryState) {
        guard let known else { return nil }
        self.init(of: key, from: known.entry, to: start, isForeign: known.isForeign)
    }

    /// The part of a change that concerns some members, for an observer that sees no others. Costs time linear in their
    /// number.
    package func part(_ keys: Set<String>) -> EntryChange {
        func part(_ state: EntryState) -> EntryState {
            guard let members = state.value?.dictionary else { return state }
            var own: [String: StoredValue] = [:]
            for key in keys { own[key] = members[key] }
            return EntryState(.dictionary(own), in: state.context)
        }
        var change = self
        (change.before, change.after) = (part(before), part(after))
        change.difference = difference.part(keys.intersection(difference.keys))
        change.bytes = Self.bytes(of: change.difference, to: change.after)
        change.shared = Locked(nil)
        return change
    }

    /// The values that differ, and the storage of the new dictionary, which is not shared.
    private static func bytes(of difference: DictionaryDifference, to after: EntryState) -> Int {
        difference.estimatedBytes + after.members.count * MemoryLayout<(String, StoredValue)>.stride
    }

    /// Merges a later change into this one.
    package mutating func append(_ next: EntryChange) {
        (key, after) = (next.key, next.after)
        difference.append(next.difference)
        bytes = Self.bytes(of: difference, to: after)
        isForeign = isForeign || next.isForeign
        count += next.count
        shared = Locked(nil)
    }
}

// MARK: - States

/// An entry of a domain at one moment, as its subscribers know it.
package struct EntryState: Sendable {
    /// The stored value; nil if the entry is missing.
    package let value: StoredValue?
    /// What the store keeps around the entry, if anything.
    package let context: (any EntryContext)?

    package init(_ value: StoredValue?, in context: (any EntryContext)? = nil) {
        self.value = value
        self.context = context
    }

    /// The members of a dictionary. An entry that is missing or of another type counts as empty.
    package var members: [String: StoredValue] { value?.dictionary ?? [:] }
}

/// What is around an entry. Only the store understands it. Different objects are different states.
package protocol EntryContext: AnyObject, Sendable {}

// MARK: - Subscriptions

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
    /// Must return at once.
    ///
    /// - Returns: an action to run once every lock is released.
    func failed(_ error: FileError?) -> (@Sendable () -> Void)?

    /// The object that is told of a fault once, however many subscriptions it has.
    var reader: ObjectIdentifier { get }
}

extension EntrySubscriber {
    package func pathChanged() {}
    package func failed(_ error: FileError?) -> (@Sendable () -> Void)? { nil }
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
    /// The results of `receive` for the difference to the entry that the subscriber knew, and of `failed`. The caller
    /// runs it once it holds no lock.
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
