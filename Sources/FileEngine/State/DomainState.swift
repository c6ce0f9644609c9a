package import PrefsPropertyLists

/// A domain, or a part of it, at one moment.
package struct DomainState {
    /// The entries of the part, or more; nil if the domain is missing. With a warning that it cannot be read, and while it is
    /// saved, the newest known state.
    package let content: DomainContent?
    /// Whether the content has all entries of the domain.
    package let hasAllEntries: Bool
    /// nil inside a transaction, and if only a comparison shows whether two states are equal.
    package let revision: Revision?
    /// Whether this is the state of the thread's own transaction, with its changes so far.
    package let isOfUpdate: Bool
    /// Why this is not what others have stored: the file is malformed or cannot be read. Or a warning of an earlier write.
    package let warning: FileError?
    /// The format of the file, or of a new one, which tells the accepted form of the values; nil for the exact one.
    package let format: FileFormat?
    /// What the state survives, as far as this process owes it: less than a power cut if the process has stored the state
    /// and has not flushed it, nothing if the state is not in the domain. A write that equals the state changes nothing if that is
    /// enough, and is a write like every other if it is not.
    package let durability: CommitDurability
    /// Whether another program is saving the domain, so that this is its last known state.
    package let isDuringSave: Bool
    /// When another look is due although nothing changes, from now on; nil for never.
    package let nextLook: Duration?

    package init(
        _ content: DomainContent?, hasAllEntries: Bool = true, revision: Revision? = nil,
        isOfUpdate: Bool = false, warning: FileError? = nil, format: FileFormat? = nil,
        durability: CommitDurability = .powerCut, isDuringSave: Bool = false, nextLook: Duration? = nil
    ) {
        self.content = content
        self.hasAllEntries = hasAllEntries
        self.revision = revision
        self.isOfUpdate = isOfUpdate
        self.warning = warning
        self.format = format
        self.durability = durability
        self.isDuringSave = isDuringSave
        self.nextLook = nextLook
    }

    /// A known state that is read in place of one that cannot be read.
    init(
        _ known: FileState, revision: Revision? = nil, warning: FileError? = nil,
        isDuringSave: Bool = false
    ) {
        self.init(
            known.content, revision: revision, warning: warning, format: known.format,
            durability: .notStored, isDuringSave: isDuringSave)
    }
}
