/// The known results of the flushes of one file.
struct FlushRecord {
    /// The state that this process has flushed last. Of any other nothing is known: its writer may have been killed
    /// between the rename and the flush.
    private var flushed: FileStatus?
    /// The file whose flush has failed last.
    private var notFlushed: FileStatus?
    /// Whether this process has flushed the entry of the folder in the one above.
    var hasFlushedFolder = false

    /// - Parameter status: of a state; nil if there is no file, and therefore nothing to lose.
    func durability(of status: FileStatus?) -> CommitDurability {
        status == nil || status == flushed ? .powerCut : .process
    }

    /// After a failed flush the system may consider the bytes written: only writing them again is safe.
    func isRefused(for status: FileStatus) -> Bool {
        notFlushed?.isSameFile(as: status) ?? false
    }

    mutating func note(_ status: FileStatus, hasSucceeded: Bool) {
        if hasSucceeded { flushed = status } else { notFlushed = status }
        // A new file may get the number of a removed file.
        if hasSucceeded, let failed = notFlushed, failed.isSameFile(as: status) { notFlushed = nil }
    }
}
