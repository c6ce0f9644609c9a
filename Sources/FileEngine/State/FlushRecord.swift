/// What this process has stored in one file and not flushed.
struct FlushRecord {
    /// The state of the file; nil if it owes no flush.
    private var unflushed: FileStatus?
    /// Whether its flush has failed. The system may then consider the bytes written, so only writing them again is safe.
    private var hasFailed = false
    /// Whether this process has flushed the entry of the folder in the folder above.
    var hasFlushedFolder = false

    func durability(of state: FileState) -> CommitDurability {
        if state.fault != nil { return .notStored }
        return isOwed(for: state) ? .process : .powerCut
    }

    func isRefused(for state: FileState) -> Bool { hasFailed && isOwed(for: state) }

    /// Whether a state may be the one that is not flushed. A missing file owes nothing, because nothing of it can be lost.
    private func isOwed(for state: FileState) -> Bool {
        guard let unflushed, let status = state.status else { return false }
        return state.volume.mayBe(status, unflushed)
    }

    /// Notes that the process has stored a state without a flush.
    mutating func owes(_ status: FileStatus) {
        (unflushed, hasFailed) = (status, false)
    }

    /// Notes the outcome of a flush.
    mutating func note(_ status: FileStatus, hasSucceeded: Bool) {
        (unflushed, hasFailed) = hasSucceeded ? (nil, false) : (status, true)
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
