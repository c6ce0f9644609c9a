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
    /// The form that the first observer has computed from the change, for observers that compute the same form.
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

    /// The part of a change that concerns some members, for an observer that sees no others. Costs time linear in their
    /// number.
    package func part(_ keys: Set<String>) -> EntryChange {
        var change = self
        (change.before, change.after) = (before.part(keys), after.part(keys))
        change.difference = difference.part(keys.intersection(difference.keys))
        change.bytes = Self.bytes(of: change.difference, to: change.after)
        change.shared = Locked(nil)
        return change
    }

    /// The change of what is made of the entry, for the same steps; nil if it changes nothing. If several changes are merged, a
    /// key of one of them may have the same value before and after.
    package func mapped(_ value: (EntryState) -> StoredValue?) -> EntryChange? {
        var change = self
        (change.before, change.after) = (EntryState(value(before)), EntryState(value(after)))
        let (old, new) = (change.before.members, change.after.members)
        change.difference = DictionaryDifference(from: old, to: new)
        if count > 1 {
            let keys = difference.keys.filter { old[$0] != nil || new[$0] != nil }
            change.difference.include(keys, from: old, to: new)
        }
        change.shared = Locked(nil)
        return change.difference.isEmpty ? nil : change
    }

    /// The change with something around both of its states.
    func around(in context: (any EntryContext)?) -> EntryChange {
        guard let context else { return self }
        var change = self
        change.before = EntryState(before.value, in: context)
        change.after = EntryState(after.value, in: context)
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

/// An entry of a domain at one moment, as its observers know it.
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

    /// Some members of a dictionary. An entry of another type stays.
    func part(_ keys: Set<String>) -> EntryState {
        guard let members = value?.dictionary else { return self }
        var own: [String: StoredValue] = [:]
        for key in keys { own[key] = members[key] }
        return EntryState(.dictionary(own), in: context)
    }
}

/// What is around an entry. Only the store understands it. Different objects are different states.
package protocol EntryContext: AnyObject, Sendable {}
