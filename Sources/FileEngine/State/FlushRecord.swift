/// What this process has stored in one file and not flushed.
struct FlushRecord {
    private struct Owed {
        let status: FileStatus
        /// Whether its flush has failed. The system may then consider the bytes written, so only writing them again is safe.
        var hasFailed = false
    }

    /// The file that was given the name last; nil if no flush is owed.
    private var newest: Owed?
    /// The file before it, while it is being replaced: it may have the name still.
    private var former: Owed?
    /// Whether this process has flushed the entry of the folder in the folder above.
    var hasFlushedFolder = false

    func durability(of state: FileState) -> CommitDurability {
        if state.fault != nil { return .notStored }
        return owed(for: state) == nil ? .powerCut : .process
    }

    func isRefused(for state: FileState) -> Bool { owed(for: state)?.hasFailed == true }

    /// What may be owed for a state. The removal of a file is not recorded.
    private func owed(for state: FileState) -> Owed? {
        guard newest != nil || former != nil, let status = state.status else { return nil }
        return [newest, former].compactMap { $0 }.first { state.volume.mayBe(status, $0.status) }
    }

    /// Notes that a file is about to get the name.
    mutating func willStore(_ status: FileStatus) {
        (newest, former) = (Owed(status: status), newest)
    }

    /// Notes that the file has the name.
    mutating func didStore() { former = nil }

    /// Notes the outcome of a flush.
    mutating func didFlush(_ status: FileStatus, hasSucceeded: Bool) {
        (newest, former) = (hasSucceeded ? nil : Owed(status: status, hasFailed: true), nil)
    }
}

/// The failures that a commit survives after it returns.
package enum CommitDurability: Int, Comparable {
    /// Nothing. The state is not in the file, or will never be.
    case notStored
    /// A kill of the process at any moment.
    case process
    /// A power cut.
    case powerCut

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
