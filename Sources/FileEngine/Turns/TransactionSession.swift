package import PrefsPropertyLists

/// A domain between `begin` and `end`. The transactions of that time are committed together.
///
/// `commit`, if there is something to commit, then `end` are called, by one thread at a time. Only `content` and `commit` must
/// be implemented.
package protocol TransactionSession {
    typealias Content = DomainContent

    /// The committed state at the beginning; nil if the domain is missing.
    var content: Content? { get }
    /// Stores the new state, which may equal the state at the beginning if that has less durability. Throws before anything
    /// has changed, or `FileError.durabilityUnconfirmed` after.
    func commit(_ content: Content, durability: CommitDurability) throws
    /// As `commit`, and keeps the replaced state under another name beside it. A domain that is not a file keeps nothing.
    ///
    /// - Parameter reason: why it is kept, for the warning that is left.
    func commit(_ content: Content, keepingFormerBecause reason: String?, durability: CommitDurability) throws
    /// Rejects a change that the domain cannot store, before it joins others in one commit.
    ///
    /// - Parameters:
    ///   - former: the content without the change.
    ///   - size: the sum of the results for the changes before.
    /// - Returns: the encoded size of the change; 0 in a domain without a limit.
    func vet(_ content: Content, after former: Content?, beside size: Int) throws -> Int
    /// Whether the committed state has the required durability. False after a commit with less durability, and after a
    /// failed flush.
    func isDurable(_ durability: CommitDurability) -> Bool
    /// Lets other processes in again.
    func end()
    /// The form in which the domain stores a content.
    func stored(_ content: Content?) -> Content?
    /// The format that tells the accepted form of the values; nil for the exact one.
    var format: FileFormat? { get }
    /// The path of the lock file that it holds; nil if it holds none.
    var lockPath: String? { get }
}

extension TransactionSession {
    package func commit(
        _ content: Content, keepingFormerBecause reason: String?, durability: CommitDurability
    ) throws {
        try commit(content, durability: durability)
    }
    package func vet(_ content: Content, after former: Content?, beside size: Int) throws -> Int { 0 }
    package func isDurable(_ durability: CommitDurability) -> Bool { true }
    package func end() {}
    package func stored(_ content: Content?) -> Content? { content }
    package var format: FileFormat? { nil }
    package var lockPath: String? { nil }
}

/// One update of a commit: what it started from, and what it has made of it.
package struct CommitStep {
    package let before: DomainContent?
    package let after: DomainContent?
}

/// Who is told of the commits of a queue, by the thread whose turn it is.
package protocol CommitListener: AnyObject, Sendable {
    typealias Action = @Sendable () -> Void

    /// Called before each commit that changes something.
    func willCommit()

    /// Called after it, with no step if nothing was stored.
    ///
    /// - Parameter stored: returns the form in which a content is stored.
    /// - Returns: for each step the actions that its thread must run after it has released all locks.
    func didCommit(
        _ steps: [CommitStep], as stored: (DomainContent?) -> DomainContent?
    ) -> [[Action]]
}
