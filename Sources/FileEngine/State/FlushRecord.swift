/// The known results of the flushes of one file.
struct FlushRecord {
    /// The state that this process has flushed last. The durability of other states is unknown, because their writers
    /// may have been killed between the rename and the flush.
    private var flushed: FileStatus?
    /// The file whose flush has failed last.
    private var notFlushed: FileStatus?
    /// Whether this process has flushed the entry of the folder in the folder above.
    var hasFlushedFolder = false

    /// - Parameter status: the status of a state; nil if the file is missing, so that nothing can be lost.
    func durability(of status: FileStatus?) -> CommitDurability {
        status == nil || status == flushed ? .powerCut : .process
    }

    /// Whether a flush of this state has failed. The system may then consider the bytes written, so only writing them
    /// again is safe.
    func isRefused(for status: FileStatus) -> Bool {
        notFlushed?.isSameFile(as: status) ?? false
    }

    mutating func note(_ status: FileStatus, hasSucceeded: Bool) {
        if hasSucceeded { flushed = status } else { notFlushed = status }
        // A new file may get the inode number of a removed file.
        if hasSucceeded, let failed = notFlushed, failed.isSameFile(as: status) { notFlushed = nil }
    }
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
