/// What is known of the flushes of one file.
struct FlushRecord {
    /// The state that this process has flushed last. Of any other nothing is known: its writer may have been killed
    /// between the rename and the flush.
    private var flushed: FileStatus?
    /// The file whose flush has failed last.
    private var notFlushed: FileStatus?
    /// Whether this process has flushed the entry of the folder in the one above.
    var hasFlushedFolder = false

    /// - Parameter status: of a state; nil where there is no file, and so nothing to lose.
    func durability(of status: FileStatus?) -> CommitDurability {
        status == nil || status == flushed ? .powerCut : .process
    }

    /// After a flush that failed the system may take the bytes for written: only writing them anew is sure.
    func isRefused(for status: FileStatus) -> Bool {
        notFlushed?.isSameFile(as: status) ?? false
    }

    mutating func note(_ status: FileStatus, hasSucceeded: Bool) {
        if hasSucceeded { flushed = status } else { notFlushed = status }
        // The number of a file that is gone may be given to a new one.
        if hasSucceeded, let failed = notFlushed, failed.isSameFile(as: status) { notFlushed = nil }
    }
}
