package import PrefsPropertyLists

/// A domain between `begin` and `end`. The transactions of that time are committed together.
///
/// `commit` or `confirm`, then `end` are called, by one thread at a time. Only `content` and `commit` must be
/// implemented.
package protocol TransactionSession {
    typealias Content = Transaction.Content

    /// The committed state at the beginning; nil if the domain is missing.
    var content: Content? { get }
    /// Stores the new state. Throws before anything has changed, or `FileError.durabilityUnconfirmed` after.
    func commit(_ content: Content, durability: CommitDurability) throws
    /// Rejects a change that the domain cannot store, before it joins others in one commit.
    ///
    /// - Parameters:
    ///   - former: the content without the change.
    ///   - size: the sum of the results for the changes before.
    /// - Returns: the encoded size of the change; 0 in a domain without a limit.
    func vet(_ content: Content, after former: Content?, beside size: Int) throws -> Int
    /// Whether the committed state has the required durability. False after a commit with less durability, and after a
    /// failed flush.
    func isConfirmed(_ durability: CommitDurability) -> Bool
    /// Makes the committed state survive a power cut.
    func confirm() throws
    /// Keeps the state that the session started from, which is about to be replaced, under another name beside it. Does
    /// nothing if the domain is not a file.
    func quarantine() throws
    /// Lets other processes in again.
    func end()
    /// The form in which the domain stores a content.
    func stored(_ content: Content?) -> Content?
    /// The accepted form of the values, which people may have written.
    var form: ValueForm { get }
}

extension TransactionSession {
    package func vet(_ content: Content, after former: Content?, beside size: Int) throws -> Int { 0 }
    package func isConfirmed(_ durability: CommitDurability) -> Bool { true }
    package func confirm() {}
    package func quarantine() {}
    package func end() {}
    package func stored(_ content: Content?) -> Content? { content }
    package var form: ValueForm { .exact }
}

/// The failures that a commit survives after it returns.
package enum CommitDurability: Int, Comparable {
    /// Nothing. The state is not in the file, because the file is malformed and the state has another source.
    case notStored
    /// A kill of the process at any moment.
    case process
    /// A power cut.
    case powerCut

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
