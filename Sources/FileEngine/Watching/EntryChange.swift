package import PrefsPropertyLists

/// A committed change of one entry of a domain.
///
/// Unchecked because canonical property-list values, which never change, are not Sendable.
package struct EntryChange: @unchecked Sendable {
    package let key: String
    package let before: Any?
    package let after: Any?
    /// The difference of the two as dictionaries. An entry that is missing or not a dictionary counts as empty.
    package let difference: DictionaryDifference
    /// Whether it was made by another process, or by other code than ours.
    package let isForeign: Bool

    /// nil if nothing has changed.
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

    /// The change from the entry that a subscriber knows to the one that it starts from.
    package init?(of key: String, from known: LastKnownEntry?, to start: Any?) {
        guard let known else { return nil }
        self.init(of: key, from: known.entry, to: start, isForeign: known.isForeign)
    }
}
