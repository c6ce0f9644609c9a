package import PrefsPropertyLists

/// A part of a domain at one moment.
package struct DomainState {
    /// The entries of the part, or more; nil if the domain is missing.
    package let content: DomainContent?
    /// Whether the content has all entries of the domain.
    package let hasAllEntries: Bool
    /// nil inside a transaction, and if only a comparison shows whether two states are equal.
    package let revision: Revision?
    /// A warning of a read that succeeded: the file is malformed, and the content is the newest known state. Or a
    /// warning of an earlier write.
    package let warning: FileError?
    /// The accepted form of the values, which people may have written.
    package let form: ValueForm
    /// Whether this is the last known state of a file that another program is saving.
    let isDuringSave: Bool

    package init(
        _ content: DomainContent?, hasAllEntries: Bool = true, revision: Revision? = nil,
        warning: FileError? = nil,
        form: ValueForm = .exact, isDuringSave: Bool = false
    ) {
        self.content = content
        self.hasAllEntries = hasAllEntries
        self.form = form
        self.isDuringSave = isDuringSave
        self.revision = revision
        self.warning = warning
    }

    /// A known state that is read in place of one that cannot be read.
    init(
        _ known: FileState, revision: Revision? = nil, warning: FileError? = nil,
        isDuringSave: Bool = false
    ) {
        self.init(
            known.content, revision: revision, warning: warning, form: known.format?.form ?? .exact,
            isDuringSave: isDuringSave)
    }
}
